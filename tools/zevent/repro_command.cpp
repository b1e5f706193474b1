#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "command.hpp"
#include "launch/installation.hpp"
#include "model/symptom_search.hpp"
#include "replay/recorded_environment.hpp"
#include "replay/shared_handles.hpp"
#include "repro/call_sequence.hpp"
#include "repro/project.hpp"
#include "repro/verification.hpp"
#include "trace/open_trace.hpp"

namespace zevent::tool {
namespace {

constexpr int exit_could_not_run = 125;

struct repro_options {
  std::string trace;
  std::string output = "repro";
  std::string symptom;
  std::optional<uint32_t> process;
  std::optional<uint64_t> until;
  std::string driver;
  bool verify = false;
};

result<model::found_symptom> symptom_of(const repro_options& options,
                                        const trace::trace_file& trace, uint32_t process) {
  if (!options.symptom.empty()) {
    auto given = model::parse_symptom(options.symptom);
    if (!given) return tl::unexpected(given.error());
    return model::found_symptom{*given, 0, ""};
  }
  auto found = model::find_symptom(trace, process);
  if (!found) return tl::unexpected(found.error());
  return found->value_or(model::found_symptom{model::no_symptom{}, 0, ""});
}

// Fails where the calls need another process; says what is left out of what others do.
result<void> say_what_is_shared(const trace::trace_file& trace, uint32_t process,
                                uint64_t last_call) {
  const auto handles = replay::find_shared_handles(trace);
  if (!handles) return tl::unexpected(handles.error());
  const auto shared = replay::describe_sharing(trace, process, *handles, last_call);
  for (const auto& each : shared.notes) fmt::print("not as recorded: {}\n", each);
  if (shared.hindrances.empty()) return {};
  std::string all = "a reproducer has the calls of one process";
  for (const auto& each : shared.hindrances) all += "\n  " + each;
  return fail("{}", all);
}

bool is_none(const model::symptom& symptom) {
  return std::holds_alternative<model::no_symptom>(symptom);
}

// Zero when the reproducer shows the symptom, if there is one, by the recorded calls and no others.
int verify(const repro_options& options, const trace::trace_file& trace,
           const replay::call_selection& selection, const model::symptom& symptom) {
  const auto files = launch::find_installation();
  if (!files) return complain("repro", files.error(), exit_could_not_run);
  repro::verification_options verifying;
  verifying.include_directory = ZEVENT_LEVEL_ZERO_INCLUDE;
  verifying.driver = options.driver;
  verifying.environment = replay::recorded_environment(trace.run().processes[selection.process]);
  const auto verified = repro::verify(options.output, trace, selection, *files, verifying);
  if (!verified) return complain("repro", verified.error(), exit_could_not_run);
  for (const auto& each : verified->output) fmt::print("./repro: {}\n", each);
  if (verified->deviations.empty()) {
    fmt::print("the reproducer makes the same calls in the same order\n");
  } else {
    fmt::print("the reproducer's calls are not those of the recording:\n");
    for (const auto& each : verified->deviations) fmt::print("  {}\n", each);
  }
  if (is_none(symptom)) {
    fmt::print("verified: {}\n", verified->deviations.empty() ? "same calls" : "other calls");
    return verified->deviations.empty() ? 0 : 1;
  }
  fmt::print("verified: {}\n", verified->symptom_is_shown ? "same symptom" : "no symptom");
  return verified->symptom_is_shown && verified->deviations.empty() ? 0 : 1;
}

int repro(const repro_options& options) {
  const auto opened = trace::open_trace(options.trace);
  if (!opened) return complain("repro", opened.error(), exit_could_not_run);
  for (const auto& warning : opened->warnings) fmt::print(stderr, "zevent: repro: {}\n", warning);
  const auto& trace = opened->trace;
  const auto process =
      options.process ? result<uint32_t>(*options.process) : replay::only_process(trace);
  if (!process) return complain("repro", process.error(), exit_could_not_run);
  if (*process >= trace.run().processes.size())
    return complain("repro", {fmt::format("there is no process {}", *process)}, exit_usage);
  if (auto done = say_what_is_shared(trace, *process, options.until.value_or(UINT64_MAX)); !done)
    return complain("repro", done.error(), exit_could_not_run);
  const auto symptom = symptom_of(options, trace, *process);
  if (!symptom) return complain("repro", symptom.error(), exit_could_not_run);

  repro::program_options writing;
  writing.selection = {*process, options.until.value_or(UINT64_MAX),
                       repro::calls_of_the_loader(trace, *process)};
  writing.symptom = symptom->what;
  const auto program = repro::write_program(trace, writing);
  if (!program) return complain("repro", program.error(), exit_could_not_run);
  const repro::project_facts facts{std::filesystem::path(options.trace).filename().string(),
                                   symptom->why, symptom->what, *process};
  const auto written = repro::write_project(options.output, *program, trace, facts);
  if (!written) return complain("repro", written.error(), exit_could_not_run);

  if (is_none(symptom->what) && options.symptom.empty())
    fmt::print(
        "nothing in this recording looks like a symptom; --symptom 'CALL>DURATION' or\n"
        "--symptom 'CALL result=NAME' says what the reproducer is to look for\n");
  else
    fmt::print("symptom {}{}{}\n", model::to_text(symptom->what), symptom->why.empty() ? "" : ": ",
               symptom->why);
  fmt::print("{} calls as {} statements in {}/\n", program->calls, program->statements,
             options.output);
  for (const auto& each : program->deviations)
    fmt::print("not as recorded: call {}: {}\n", each.call, each.what);
  return options.verify ? verify(options, trace, writing.selection, symptom->what) : 0;
}

}  // namespace

action declare_repro(CLI::App& line) {
  auto options = std::make_shared<repro_options>();
  line.footer(
      "Writes a C program that makes the recorded calls and needs nothing but a Level Zero\n"
      "loader, with the kernels and data it uses and a README to attach to a bug report.");
  line.add_option("trace", options->trace, "the recording")->required();
  line.add_option("-o,--output", options->output, "the folder to write")->capture_default_str();
  line.add_option(
      "--symptom", options->symptom,
      "what to show again: 'CALL>DURATION', 'CALL result=NAME', hang, crash, memory, none; "
      "found in the recording if not given");
  line.add_option("--until", options->until, "leave out what comes after that call");
  line.add_option("--process", options->process, "which process, where several were recorded");
  line.add_flag("--verify", options->verify,
                "build it, run it, record it, and compare the symptom and the calls");
  line.add_option("--driver", options->driver,
                  "the driver to verify on; the software driver if not given");
  return [options] { return repro(*options); };
}

}  // namespace zevent::tool
