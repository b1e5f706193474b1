#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "check/rule_symptom.hpp"
#include "command.hpp"
#include "exit_could_not_run.hpp"
#include "launch/installation.hpp"
#include "launch/replay_driver.hpp"
#include "model/symptom_search.hpp"
#include "replay/recorded_environment.hpp"
#include "replay/shared_handles.hpp"
#include "report/progress_bar.hpp"
#include "repro/merged_calls.hpp"
#include "repro/project.hpp"
#include "repro/verification.hpp"
#include "trace_argument.hpp"

namespace zevent::tool {
namespace {

struct repro_options {
  std::string trace;
  std::string output = "repro";
  std::string symptom;
  std::optional<uint32_t> process;  // from 1, as it is printed
  std::optional<uint64_t> until;
  std::string driver;
  std::string polls = "until-done";
  bool verify = false;
  uint64_t repeat = 5;
};

// What is to be shown again, and by which processes.
struct chosen_calls {
  model::found_symptom symptom{model::no_symptom{}, 0, ""};
  std::vector<std::string> crashes;  // in no call, which calls do not show again
  std::vector<uint32_t> processes;
};

bool is_none(const model::symptom& symptom) {
  return std::holds_alternative<model::no_symptom>(symptom);
}

// The call that a symptom names by its number.
std::optional<uint64_t> call_named_by(const model::symptom& symptom) {
  if (const auto* slow = std::get_if<model::slow_call>(&symptom)) return slow->call.number;
  if (const auto* failed = std::get_if<model::call_with_result>(&symptom))
    return failed->call.number;
  if (const auto* found = std::get_if<model::rule_finding>(&symptom))
    return found->call ? found->call->number : std::nullopt;
  return std::nullopt;
}

result<std::vector<model::found_symptom>> find_rule(const trace::trace_file& trace,
                                                    const model::rule_finding& wanted) {
  report::progress_bar bar("checking");
  return check::find_shown(trace, wanted,
                           [&](uint64_t done, uint64_t total) { bar.update(done, total); });
}

std::optional<trace::call> call_with_number(const trace::trace_file& trace, uint64_t number) {
  trace::call_reader reader(trace, trace::call_number{number});
  const auto* call = reader.next();
  if (call == nullptr || trace::number_of(call->number) != number) return std::nullopt;
  return *call;
}

// What a rule calls an error is worth more than a slow call, of which it may be the cause: unless
// it comes after it.
void prefer_rule_error(const trace::trace_file& trace, std::span<const uint32_t> processes,
                       uint64_t last_call, model::found_symptom& found) {
  const bool is_better = !std::holds_alternative<model::no_symptom>(found.what) &&
                         !std::holds_alternative<model::slow_call>(found.what);
  if (is_better) return;
  report::progress_bar bar("checking");
  auto error = check::find_first_error(
      trace, processes, last_call, [&](uint64_t done, uint64_t total) { bar.update(done, total); });
  if (!error) return;
  constexpr uint64_t long_ns = 10 * model::blocking_ns;
  const auto slow = std::holds_alternative<model::slow_call>(found.what) && error->call > found.call
                        ? call_with_number(trace, found.call)
                        : std::nullopt;
  if (!slow || slow->duration_ns < long_ns) found = std::move(*error);
}

// Crashes and hangs come first, then errors, then slow calls.
int rank_of(const model::symptom& symptom) {
  if (std::holds_alternative<model::crash>(symptom)) return 0;
  if (std::holds_alternative<model::hang>(symptom)) return 1;
  return std::holds_alternative<model::call_with_result>(symptom) ? 2 : 3;
}

// The worst symptom of all processes.
result<model::found_symptom> find_symptom(const trace::trace_file& trace,
                                          const std::vector<uint32_t>& processes,
                                          uint64_t last_call) {
  model::found_symptom worst{model::no_symptom{}, 0, ""};
  uint64_t longest_ns = 0;
  for (const uint32_t each : processes) {
    const auto found = model::find_symptom(trace, each, model::blocking_ns, last_call);
    if (!found) return tl::unexpected(found.error());
    if (!*found) continue;
    const auto call = call_with_number(trace, (*found)->call);
    const uint64_t duration_ns = call ? call->duration_ns : 0;
    const bool is_worse =
        std::holds_alternative<model::no_symptom>(worst.what) ||
        rank_of((*found)->what) < rank_of(worst.what) ||
        (rank_of((*found)->what) == 3 && rank_of(worst.what) == 3 && duration_ns > longest_ns);
    if (!is_worse) continue;
    worst = **found;
    longest_ns = duration_ns;
  }
  return worst;
}

// Of a call that shows the symptom: its process and those that it shares something with.
result<std::vector<uint32_t>> processes_for(const trace::trace_file& trace,
                                            const std::vector<uint32_t>& all, uint64_t call) {
  const auto shows = call_with_number(trace, call);
  if (!shows) return all;
  const auto handles = replay::find_shared_handles(trace);
  if (!handles) return tl::unexpected(handles.error());
  auto sharing = replay::sharing_processes(*handles, trace.process_of(*shows));
  std::erase_if(
      sharing, [&](uint32_t each) { return std::find(all.begin(), all.end(), each) == all.end(); });
  return sharing;
}

// Where the processes crashed as the symptom has it, and in no call: notes it, and fails if there
// was nothing of the driver's that could have crashed.
result<void> look_for_crash(const model::crash& wanted, const trace::trace_file& trace,
                            uint64_t last_call, chosen_calls& out) {
  const auto in_call = find_symptom(trace, out.processes, last_call);
  if (!in_call) return tl::unexpected(in_call.error());
  if (std::holds_alternative<model::crash>(in_call->what)) return {};
  bool is_programs_own = true;
  for (auto& each : model::find_crashes_in_no_call(trace, out.processes, last_call)) {
    if (wanted.signal && *wanted.signal != each.signal) continue;
    is_programs_own = is_programs_own && each.is_programs_own;
    out.crashes.push_back(std::move(each.why));
  }
  if (out.crashes.empty() || !is_programs_own) return {};
  return fail("{}, and calls do not show that again; '--symptom none' writes them",
              out.crashes.front());
}

// Fails where the call that a symptom names is left out; says where the recording does not show it.
result<void> look_for(const model::symptom& symptom, const trace::trace_file& trace,
                      uint64_t last_call) {
  if (const auto named = call_named_by(symptom)) {
    if (!call_with_number(trace, *named)) return fail("the recording has no call {}", *named);
    if (*named > last_call) return fail("--until {} leaves out call {}", last_call, *named);
  }
  const auto* rule = std::get_if<model::rule_finding>(&symptom);
  const auto shown = rule != nullptr ? find_rule(trace, *rule) : model::find_shown(trace, symptom);
  if (!shown && rule != nullptr) return tl::unexpected(shown.error());
  if (shown && shown->empty() && !is_none(symptom))
    fmt::print("no call of the recording shows the symptom {}\n", model::to_text(symptom));
  return {};
}

result<chosen_calls> choose(const repro_options& options,
                            const std::optional<model::symptom>& given,
                            const trace::trace_file& trace) {
  const uint64_t last_call = options.until.value_or(UINT64_MAX);
  chosen_calls out;
  if (options.process) {
    out.processes = {*options.process - 1};
  } else {
    auto all = replay::processes_with_calls(trace, last_call);
    if (!all) return tl::unexpected(all.error());
    out.processes = std::move(*all);
  }
  std::optional<uint64_t> shown_by;
  if (!given) {
    auto found = find_symptom(trace, out.processes, last_call);
    if (!found) return tl::unexpected(found.error());
    out.symptom = std::move(*found);
    prefer_rule_error(trace, out.processes, last_call, out.symptom);
    if (!is_none(out.symptom.what)) shown_by = out.symptom.call;
    for (auto& each : model::find_crashes_in_no_call(trace, out.processes, last_call))
      out.crashes.push_back(std::move(each.why));
  } else {
    if (auto done = look_for(*given, trace, last_call); !done) return tl::unexpected(done.error());
    if (const auto* crash = std::get_if<model::crash>(&*given))
      if (auto done = look_for_crash(*crash, trace, last_call, out); !done)
        return tl::unexpected(done.error());
    out.symptom.what = *given;
    shown_by = call_named_by(*given);
  }
  if (out.processes.size() == 1 || !shown_by) return out;
  auto needed = processes_for(trace, out.processes, *shown_by);
  if (!needed) return tl::unexpected(needed.error());
  if (needed->size() < out.processes.size())
    fmt::print(
        "{} of {} processes are left out: they share nothing with the one that shows the "
        "symptom\n",
        out.processes.size() - needed->size(), out.processes.size());
  if (!needed->empty()) out.processes = std::move(*needed);
  return out;
}

// Fails where the calls need another process; says what is left out of what others do.
result<void> say_what_is_shared(const trace::trace_file& trace, uint32_t process,
                                uint64_t last_call) {
  const auto handles = replay::find_shared_handles(trace);
  if (!handles) return tl::unexpected(handles.error());
  const auto shared = replay::describe_sharing(trace, process, *handles, last_call);
  for (const auto& each : shared.notes) fmt::print("not as recorded: {}\n", each);
  if (shared.hindrances.empty()) return {};
  std::string all = fmt::format("process {} alone cannot be reproduced", process + 1);
  for (const auto& each : shared.hindrances) all += "\n  " + each;
  return fail("{}", all);
}

// The reproducer's processes have one environment.
void say_other_environments(const trace::trace_file& trace,
                            const std::vector<replay::call_selection>& selections) {
  const auto environment_of = [&](const replay::call_selection& each) {
    return replay::recorded_environment(trace.run().processes[each.process]);
  };
  for (const auto& each : selections)
    if (environment_of(each) != environment_of(selections.front()))
      fmt::print(
          "not as recorded: process {} had other variables of the driver than process {}, "
          "whose are used\n",
          each.process + 1, selections.front().process + 1);
}

replay::poll_mode poll_mode_of(const repro_options& options) {
  return replay::parse_poll_mode(options.polls).value_or(replay::poll_mode::until_done);
}

// The verdict in words, and the exit status that goes with it.
int say_verdict(const repro::verification& verified, const model::symptom& symptom) {
  for (const auto& each : verified.output) fmt::print("./repro: {}\n", each);
  for (const auto& each : repro::describe_calls(symptom, verified.runs)) fmt::print("{}\n", each);
  const bool same_calls = verified.deviations.empty();
  if (same_calls) {
    fmt::print("the reproducer makes the same calls in the same order\n");
  } else {
    fmt::print("the reproducer's calls are not those of the recording:\n");
    for (const auto& each : verified.deviations) fmt::print("  {}\n", each);
  }
  if (is_none(symptom)) {
    fmt::print("{}\n", same_calls ? "verified: same calls" : "not verified: other calls");
    return same_calls ? 0 : 1;
  }
  const bool is_shown = verified.reached.what == repro::verdict::kind::same_symptom;
  fmt::print("{}: {}{}\n", is_shown ? "verified" : "not verified", repro::to_text(verified.reached),
             is_shown && !same_calls ? ", other calls" : "");
  return is_shown && same_calls ? 0 : 1;
}

// Zero when the reproducer shows the symptom, if there is one, by the recorded calls and no others.
int verify(const repro_options& options, const trace::trace_file& trace,
           const std::vector<replay::call_selection>& selections, const model::symptom& symptom) {
  const auto files = launch::find_installation();
  if (!files) return complain("repro", files.error(), exit_could_not_run);
  // A loader that does not find it only says that there is no device.
  if (options.driver.find('/') != std::string::npos && !std::filesystem::exists(options.driver))
    return complain("repro", {fmt::format("there is no driver {}", options.driver)},
                    exit_could_not_run);
  repro::verification_options verifying;
  const auto& process = trace.run().processes[selections.front().process];
  const auto driver = launch::choose_replay_driver(
      options.driver, {process.fact("driver"), process.fact("boot")}, *files);
  if (!driver.note.empty()) fmt::print(stderr, "zevent: repro: verifying {}\n", driver.note);
  verifying.driver = driver.library == files->driver ? "" : driver.library;
  verifying.environment = replay::recorded_environment(process);
  verifying.symptom = symptom;
  verifying.polls = poll_mode_of(options);
  verifying.repeat = is_none(symptom) ? 1 : options.repeat;
  verifying.find_rule = find_rule;
  const auto verified = [&] {
    report::progress_bar bar("running the reproducer");
    verifying.progress = [&](uint64_t done, uint64_t total) { bar.update(done, total); };
    return repro::verify(options.output, trace, selections, *files, verifying);
  }();
  if (!verified) return complain("repro", verified.error(), exit_could_not_run);
  return say_verdict(*verified, symptom);
}

result<repro::c_program> write_calls(const trace::trace_file& trace, repro::program_options how) {
  report::progress_bar bar("writing the calls");
  how.progress = [&](uint64_t done, uint64_t total) { bar.update(done, total); };
  return repro::write_program(trace, how);
}

int repro(const repro_options& options) {
  std::optional<model::symptom> given;
  if (!options.symptom.empty()) {
    const auto parsed = model::parse_symptom(options.symptom);
    if (!parsed) return complain("repro", parsed.error(), exit_usage);
    given = *parsed;
  }
  const auto opened = open_named("repro", options.trace);
  if (!opened) return complain("repro", opened.error(), exit_cannot);
  for (const auto& warning : opened->warnings) fmt::print(stderr, "zevent: repro: {}\n", warning);
  const auto& trace = opened->trace;
  const uint64_t last = options.until.value_or(UINT64_MAX);
  if (options.process && *options.process - 1 >= trace.run().processes.size())
    return complain("repro", {fmt::format("there is no process {}", *options.process)}, exit_usage);
  const auto chosen = choose(options, given, trace);
  if (!chosen) return complain("repro", chosen.error(), exit_could_not_run);
  if (chosen->processes.size() == 1)
    if (auto done = say_what_is_shared(trace, chosen->processes.front(), last); !done)
      return complain("repro", done.error(), exit_could_not_run);

  repro::program_options writing;
  writing.selections = repro::select_calls(trace, chosen->processes, last);
  if (writing.selections.empty())
    return complain("repro", {"there are no calls to reproduce"}, exit_could_not_run);
  const auto* symptom = &chosen->symptom;
  writing.symptom = symptom->what;
  writing.polls = poll_mode_of(options);
  say_other_environments(trace, writing.selections);
  const auto program = write_calls(trace, writing);
  if (!program) return complain("repro", program.error(), exit_could_not_run);
  std::vector<uint32_t> processes;
  for (const auto& each : writing.selections) processes.push_back(each.process);
  const repro::project_facts facts{std::filesystem::path(options.trace).filename().string(),
                                   symptom->why, symptom->what, chosen->crashes,
                                   std::move(processes)};
  const auto written = repro::write_project(options.output, *program, trace, facts);
  if (!written) return complain("repro", written.error(), exit_cannot);

  for (const auto& each : chosen->crashes) fmt::print("{}\n", each);
  if (is_none(symptom->what) && !given)
    fmt::print(
        "nothing{} in this recording looks like a symptom; --symptom 'CALL>DURATION' or\n"
        "--symptom 'CALL result=NAME' says what the reproducer is to look for\n",
        chosen->crashes.empty() ? "" : " else");
  else
    fmt::print("symptom {}{}{}\n", model::to_text(symptom->what), symptom->why.empty() ? "" : ": ",
               symptom->why);
  fmt::print("{} calls as {} statements in {}/\n", program->calls, program->statements,
             options.output);
  for (const auto& each : program->deviations)
    fmt::print("not as recorded: call {}: {}\n", each.call, each.what);
  return options.verify ? verify(options, trace, writing.selections, symptom->what) : 0;
}

}  // namespace

action declare_repro(CLI::App& line) {
  auto options = std::make_shared<repro_options>();
  line.footer(
      "Writes a C program that makes the recorded calls and needs nothing but a Level Zero\n"
      "loader, with the kernels and data it uses and a README to attach to a bug report.\n"
      "Exit status of --verify: 0 the same symptom and the same calls, 1 not so, 125 when it "
      "could\n"
      "not be built or run.");
  line.add_option("TRACE", options->trace, "the recording")->required();
  line.add_option("-o,--output", options->output, "the folder to write")
      ->capture_default_str()
      ->type_name("FOLDER");
  line.add_option(
          "--symptom", options->symptom,
          "what to show again: 'CALL>DURATION', 'CALL result=NAME', hang, crash, memory, 'EV-NN', "
          "none; found in the recording if not given")
      ->type_name("SYMPTOM");
  line.add_option("--until", options->until, "leave out what comes after that call")
      ->check(is_whole_number());
  line.add_option("--process", options->process, "that process alone, where several were recorded")
      ->check(is_whole_number());
  line.add_option("--polls", options->polls,
                  "until-done: ask again until a recorded SUCCESS comes; exact: ask as often as "
                  "recorded")
      ->check(CLI::IsMember({"until-done", "exact"}))
      ->capture_default_str();
  line.add_flag("--verify", options->verify,
                "build it, run it, record it, and compare the symptom and the calls");
  line.add_option("--repeat", options->repeat,
                  "runs for --verify; the symptom has to show in the majority of them")
      ->check(CLI::Range(uint64_t{1}, uint64_t{100'000}).description(""))
      ->capture_default_str()
      ->type_name("N");
  line.add_option(
          "--driver", options->driver,
          "the driver to verify on: 'software', or a library (default: that of the recording "
          "where it is here, else the software driver)")
      ->type_name("LIBRARY");
  return [options] { return repro(*options); };
}

}  // namespace zevent::tool
