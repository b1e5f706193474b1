#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

#include "base/terminal.hpp"
#include "check/rules.hpp"
#include "command.hpp"
#include "exit_could_not_run.hpp"
#include "launch/installation.hpp"
#include "launch/replay_driver.hpp"
#include "model/symptom_search.hpp"
#include "replay/chaos_search.hpp"
#include "replay/hang_report.hpp"
#include "replay/needs.hpp"
#include "replay/recorded_environment.hpp"
#include "replay/replay_report.hpp"
#include "replay/shared_handles.hpp"
#include "report/progress_bar.hpp"
#include "trace/call_filter.hpp"
#include "trace_argument.hpp"

namespace zevent::tool {
namespace {

struct replay_options {
  std::string trace;
  std::optional<uint32_t> process;  // from 1, as it is printed
  std::optional<uint64_t> until;
  std::string driver;
  std::string pace = "fast";
  std::string compare = "results";
  std::string polls = "until-done";
  std::string timeout = "60s";
  std::string environment = "recorded";
  std::string symptom;
  uint64_t chaos_seeds = 0;
  bool free_threads = false;
  bool anyway = false;
};

// The driver for each of the processes. Says which ones, where that is not plain.
result<std::vector<std::string>> drivers_of(const replay_options& options,
                                            const trace::trace_file& trace,
                                            const std::vector<uint32_t>& processes) {
  const auto files = launch::find_installation();
  if (!files) return tl::unexpected(files.error());
  // Only the software driver knows chaos.
  const std::string asked = options.chaos_seeds > 0 ? "software" : options.driver;
  std::map<std::string, launch::replay_driver> chosen;  // by the recorded driver
  std::vector<std::string> out;
  for (const uint32_t each : processes) {
    const auto& process = trace.run().processes[each];
    const launch::recorded_driver recorded{process.fact("driver"), process.fact("boot")};
    auto [known, is_new] = chosen.try_emplace(recorded.library);
    if (is_new) known->second = launch::choose_replay_driver(asked, recorded, *files);
    if (is_new && !known->second.note.empty())
      fmt::print(stderr, "zevent: replay: replaying {}\n", known->second.note);
    out.push_back(known->second.library);
  }
  return out;
}

// The processes to be replayed, all together.
result<std::vector<uint32_t>> processes_of(const replay_options& options,
                                           const trace::trace_file& trace) {
  if (options.process) return std::vector{*options.process - 1};
  if (options.chaos_seeds == 0)
    return replay::processes_with_calls(trace, options.until.value_or(UINT64_MAX));
  const auto only = replay::only_process(trace);
  if (!only) return tl::unexpected(only.error());
  return std::vector{*only};
}

// A driver that is only asked what it has gets this time, however short --timeout is.
constexpr uint64_t shortest_answer_ns = 10'000'000'000;

// What the driver has not got, each thing once.
result<std::vector<std::string>> unmet_needs(std::span<const replay::program> programs,
                                             std::span<const replay::run_options> running) {
  std::vector<std::string> all;
  for (size_t i = 0; i < programs.size(); ++i) {
    const auto unmet = replay::unmet_needs(programs[i], running[i].driver, running[i].environment,
                                           std::max(running[i].timeout_ns, shortest_answer_ns));
    if (!unmet) return tl::unexpected(unmet.error());
    for (const auto& each : *unmet)
      if (std::find(all.begin(), all.end(), each) == all.end()) all.push_back(each);
  }
  return all;
}

// Prints what cannot be done again as it was; false when that is a reason to stop.
bool say_what_lacks(std::span<const replay::program> programs,
                    const std::vector<std::string>& unmet, const replay_options& options) {
  for (const auto& program : programs)
    for (const auto& each : program.deviations)
      fmt::print(stderr, "zevent: replay: call {}: {}\n", each.call, each.what);
  if (unmet.empty()) return true;
  fmt::print(stderr, "zevent: replay: the recording needs what this driver has not got:\n");
  for (const auto& each : unmet) fmt::print(stderr, "  {}\n", each);
  if (!options.anyway) fmt::print(stderr, "'--anyway' replays it all the same\n");
  return options.anyway;
}

// Prints what processes that are not replayed have a part in; false when that is a reason to stop.
bool say_what_is_shared(const trace::trace_file& trace, uint32_t process,
                        const replay_options& options) {
  const auto handles = replay::find_shared_handles(trace);
  if (!handles) return true;  // whoever reads the calls says what is wrong with them
  const auto shared =
      replay::describe_sharing(trace, process, *handles, options.until.value_or(UINT64_MAX));
  for (const auto& each : shared.notes) fmt::print(stderr, "zevent: replay: {}\n", each);
  for (const auto& each : shared.hindrances) fmt::print(stderr, "zevent: replay: {}\n", each);
  if (shared.hindrances.empty() || options.anyway) return true;
  fmt::print(stderr, "'--anyway' replays it all the same\n");
  return false;
}

// A replay has no code of the program's.
void say_what_is_left_out(const trace::trace_file& trace, std::span<const uint32_t> processes,
                          const replay_options& options) {
  for (const auto& each :
       model::find_crashes_in_no_call(trace, processes, options.until.value_or(UINT64_MAX)))
    fmt::print(stderr, "zevent: replay: in the recording, {}\n", each.why);
}

// The variables to set for a process.
replay::variable_list environment_of(const trace::process_info& process,
                                     const replay_options& options) {
  if (options.environment == "own") return {};
  auto out = replay::recorded_environment(process);
  const auto others = replay::variables_left_out(process);
  if (options.environment == "all") {
    out.insert(out.end(), others.begin(), others.end());
  } else if (!others.empty()) {
    std::string names;
    for (const auto& [name, value] : others)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    fmt::print(stderr, "zevent: replay: recorded but not set: {}; --environment all sets them\n",
               names);
  }
  return out;
}

replay::rule_words words_of(check::rule_id id) {
  const auto* rule = check::find_rule(id);
  return {check::to_text(id), std::string(rule->title), std::string(rule->advice)};
}

// 0: memory and results are the same under all seeds; 1: they are not.
int replay_under_chaos(const trace::trace_file& trace, const std::string& name,
                       const replay::chaos_options& chaos) {
  const bool shows_progress = wants_colour(stderr);
  const auto report = replay::replay_under_chaos(trace, chaos, [&](uint64_t done, uint64_t total) {
    if (shows_progress) fmt::print(stderr, "\r{} of {} replays", done, std::max(done, total));
  });
  if (shows_progress) fmt::print(stderr, "\r{:40}\r", "");
  if (!report) return complain("replay", report.error(), exit_could_not_run);
  for (const auto& each :
       replay::describe(*report, trace,
                        {words_of(check::ev(25)), words_of(check::ev(0)), words_of(check::ev(11))}))
    fmt::print("{}\n", each);
  if (report->first_bad_seed)
    fmt::print(
        "first bad seed {}; to repeat it: ZEVENT_CHAOS={} zevent replay --environment own {}\n",
        *report->first_bad_seed, *report->first_bad_seed, name);
  return report->bad() ? 1 : 0;
}

result<std::vector<replay::program>> read_calls(const trace::trace_file& trace,
                                                std::span<const uint32_t> processes,
                                                replay::compile_options how) {
  report::progress_bar bar("reading the calls");
  how.progress = [&](uint64_t done, uint64_t total) { bar.update(done, total); };
  return replay::compile_together(trace, processes, how);
}

result<std::vector<replay::run_outcome>> make_calls(std::span<const replay::program> programs,
                                                    std::span<const replay::run_options> running) {
  report::progress_bar bar("replaying");
  return replay::run_together(programs, running,
                              [&](uint64_t done, uint64_t total) { bar.update(done, total); });
}

int replay(const replay_options& options) {
  const auto timeout_ns = trace::parse_duration_ns(options.timeout);
  if (!timeout_ns || *timeout_ns == 0)
    return complain("replay",
                    {fmt::format("'{}' is not a duration; write 500ms or 2s", options.timeout)},
                    exit_usage);
  replay::report_options report{.compare_memory = options.compare == "memory"};
  if (!options.symptom.empty()) {
    const auto wanted = model::parse_symptom(options.symptom);
    if (!wanted) return complain("replay", wanted.error(), exit_usage);
    if (std::holds_alternative<model::exit_status>(*wanted))
      return complain("replay", {"a replay does not tell the status with which a program ends"},
                      exit_usage);
    if (std::holds_alternative<model::rule_finding>(*wanted))
      return complain("replay",
                      {fmt::format("a replay does not tell whether '{}' is there: 'zevent check "
                                   "--symptom' says it of a recording, 'zevent repro --verify "
                                   "--symptom' of its reproducer",
                                   model::to_text(*wanted))},
                      exit_usage);
    if (!std::holds_alternative<model::no_symptom>(*wanted)) report.symptom = *wanted;
    if (std::holds_alternative<model::memory_differs>(*wanted)) report.compare_memory = true;
  }
  const auto opened = open_named("replay", options.trace);
  if (!opened) return complain("replay", opened.error(), exit_cannot);
  for (const auto& warning : opened->warnings) fmt::print(stderr, "zevent: replay: {}\n", warning);
  const auto& trace = opened->trace;
  const auto processes = processes_of(options, trace);
  if (!processes) return complain("replay", processes.error(), exit_could_not_run);
  if (processes->front() >= trace.run().processes.size())
    return complain("replay", {fmt::format("there is no process {}", processes->front() + 1)},
                    exit_usage);
  const auto drivers = drivers_of(options, trace, *processes);
  if (!drivers) return complain("replay", drivers.error(), exit_could_not_run);

  replay::compile_options compiling;
  compiling.selection = {processes->front(), options.until.value_or(UINT64_MAX)};
  compiling.free_threads = options.free_threads;
  const auto polls = replay::parse_poll_mode(options.polls);
  compiling.polls = replay::polls_for(polls.value_or(replay::poll_mode::until_done),
                                      report.symptom.value_or(model::no_symptom{}));
  if (processes->size() == 1 && !say_what_is_shared(trace, processes->front(), options))
    return exit_could_not_run;
  const auto programs = read_calls(trace, *processes, compiling);
  if (!programs) return complain("replay", programs.error(), exit_could_not_run);

  std::vector<replay::run_options> running;
  std::vector<std::string> names;
  for (const uint32_t each : *processes) {
    auto& own = running.emplace_back();
    own.driver = (*drivers)[running.size() - 1];
    own.timeout_ns = *timeout_ns;
    own.play = {options.pace == "recorded" ? replay::pace::recorded : replay::pace::fast,
                report.compare_memory};
    own.environment = environment_of(trace.run().processes[each], options);
    names.push_back(replay::describe_process(trace, each));
  }
  const auto unmet = unmet_needs(*programs, running);
  if (!unmet) return complain("replay", unmet.error(), exit_could_not_run);
  if (!say_what_lacks(*programs, *unmet, options)) return exit_could_not_run;
  say_what_is_left_out(trace, *processes, options);

  if (options.chaos_seeds > 0)
    return replay_under_chaos(trace, options.trace,
                              {compiling.selection, running.front(), options.chaos_seeds});

  const auto outcomes = make_calls(*programs, running);
  if (!outcomes) return complain("replay", outcomes.error(), exit_could_not_run);
  for (const auto& each : *outcomes)
    if (each.ending == replay::run_ending::could_not_start)
      return complain("replay", {each.message}, exit_could_not_run);
  const auto verdict = replay::judge_together(*programs, *outcomes, names, report);
  for (const auto& each : verdict.lines) fmt::print("{}\n", each);
  const bool hung = std::any_of(outcomes->begin(), outcomes->end(), [](const auto& each) {
    return each.ending == replay::run_ending::hung;
  });
  if (hung) {
    const auto why = replay::explain_hang(trace, *programs, *outcomes);
    if (!why) return complain("replay", why.error(), 1);
    for (const auto& each : *why) fmt::print("{}\n", each);
  }
  return replay::exit_status(verdict, report);
}

}  // namespace

action declare_replay(CLI::App& line) {
  auto options = std::make_shared<replay_options>();
  line.footer(
      "Calls are made in the recorded order, with the recorded arguments, on as many threads and\n"
      "processes. A query stays a query: none is turned into a wait. A poll that was answered\n"
      "SUCCESS is asked again until it is.\n"
      "Exit status: 0 when every result is as recorded, 1 when not, 125 when it could not be run "
      "or\n"
      "nothing was there to compare memory with, 2 when the trace cannot be opened. With "
      "--symptom:\n"
      "0 when it is not there, 1 when it is.");
  line.add_option("TRACE", options->trace, "the recording")->required();
  line.add_option(
          "--driver", options->driver,
          "the driver or loader to replay on: 'software', or a library (default: that of the "
          "recording where it is here, else the software driver)")
      ->type_name("LIBRARY");
  line.add_option("--until", options->until, "stop after that call")->check(is_whole_number());
  line.add_option("--pace", options->pace,
                  "fast: as fast as it goes; recorded: no call before its time")
      ->check(CLI::IsMember({"fast", "recorded"}))
      ->capture_default_str();
  line.add_flag("--free-threads", options->free_threads,
                "let calls overlap that overlapped in the recording");
  line.add_option("--compare", options->compare,
                  "results; memory: also what allocations hold whenever the program had waited")
      ->check(CLI::IsMember({"results", "memory"}))
      ->capture_default_str();
  line.add_option("--polls", options->polls,
                  "until-done: ask again until a recorded SUCCESS comes; exact: ask as often as "
                  "recorded")
      ->check(CLI::IsMember({"until-done", "exact"}))
      ->capture_default_str();
  line.add_option("--timeout", options->timeout,
                  "a call that takes longer, and longer than twice its recorded time, hangs")
      ->capture_default_str()
      ->type_name("DURATION");
  line.add_option("--symptom", options->symptom,
                  "judge by this: 'CALL>DURATION', 'CALL result=NAME', hang, crash, memory")
      ->type_name("SYMPTOM");
  line.add_option("--chaos", options->chaos_seeds,
                  "replay it under N seeds, compare what memory holds in the end, and find the "
                  "order that is missing")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000}).description(""))
      ->excludes("--driver")
      ->type_name("N");
  line.add_option("--environment", options->environment,
                  "recorded: with the driver's settings as the program had them; own: with ours; "
                  "all: also with its other variables of Level Zero")
      ->check(CLI::IsMember({"recorded", "own", "all"}))
      ->capture_default_str();
  line.add_option("--process", options->process,
                  "that process alone, where several were recorded; all of them if not given")
      ->check(is_whole_number());
  line.add_flag("--anyway", options->anyway, "also where something that is needed lacks");
  return [options] { return replay(*options); };
}

}  // namespace zevent::tool
