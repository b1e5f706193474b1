#include <CLI/CLI.hpp>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/message.hpp"
#include "base/temporary_folder.hpp"
#include "command.hpp"
#include "launch/program.hpp"
#include "launch/recorded_run.hpp"
#include "launch/unrecorded_program.hpp"
#include "report/recorded_driver.hpp"
#include "report/summary_output.hpp"
#include "report/text_output.hpp"
#include "report_target.hpp"
#include "trace/pack.hpp"

namespace zevent::tool {
namespace {

namespace fs = std::filesystem;

struct profile_options {
  std::string driver;
  std::string output;  // as it was given; empty: the trace is not kept
  launch::recording_options recording;
  std::string way = "auto";
  std::string report;  // where the summary goes; empty: stderr
  bool json = false;
  bool or_run = false;
};

result<void> print_summary(const trace::trace_file& trace, const profile_options& options) {
  // A pipe that nobody reads any more ends the verb by an error, so that the folder is removed. The
  // program, which would inherit this, has ended.
  std::signal(SIGPIPE, SIG_IGN);
  const auto found = report::summarise(trace, trace::call_filter{}, {});
  const report_target target(options.report, stderr);
  return target.write([&](report::text_output& out) {
    if (options.json) return report::write_summary_json(trace, found, out);
    report::write_summary_text(trace, found,
                               {options.output.empty() ? "profile" : options.output,
                                target.wants_colour(), target.columns(0)},
                               out);
  });
}

result<trace::pack_report> pack(const profile_options& options) {
  const std::string& output = options.recording.output;
  launch::second_request interrupted("packing the profile; interrupt again to stop");
  trace::pack_options how;
  how.cancelled = [&] { return interrupted.came(); };
  return trace::pack_finished_run(launch::parts_folder_of(output), output, false, how);
}

// Prints where the time went.
result<void> report_on(const profile_options& options, const trace::pack_report& packed) {
  const std::string& output = options.recording.output;
  for (const auto& damage : packed.damage) say("profile: {}", damage);
  const auto opened = trace::trace_file::open(output);
  if (!opened) return tl::unexpected(opened.error());
  // What is not kept is in no file from here on, whatever ends the printing.
  std::error_code error;
  if (options.output.empty()) fs::remove_all(fs::path(output).parent_path(), error);
  for (const auto& each : report::describe_hardware_drivers(opened->run()))
    say("profile: recorded on {}", each);
  if (auto printed = print_summary(*opened, options); !printed) return printed;
  if (packed.lost_calls != 0)
    say("profile: {} calls were not recorded{}{}", packed.lost_calls,
        packed.stop_reason.empty() ? "" : "; recording stopped: ", packed.stop_reason);
  if (packed.timed_commands == 0)
    say("profile: no command ran on a device, or none that was to be timed");
  return {};
}

// The summary of a run that has ended, or why there is none.
result<void> report_on_run(const profile_options& options, const std::vector<std::string>& command,
                           launch::way_in way, const launch::installation& files,
                           std::optional<launch::signal_relay>& relay) {
  const std::string& output = options.recording.output;
  if (launch::remove_if_unused(launch::parts_folder_of(output))) {
    launch::remove_older_trace(output);
    return fail("no call was recorded: {}", launch::explain_unrecorded(command, way, files));
  }
  const auto packed = pack(options);
  relay.reset();  // a request to end ends the printing, as ever
  if (packed) return report_on(options, *packed);
  launch::remove_older_trace(output);
  return tl::unexpected(packed.error());
}

// Gives the program's end, in whatever way it came; an exit status where it was not started.
tl::expected<launch::program_end, int> run_profiled(profile_options& options,
                                                    const std::vector<std::string>& command,
                                                    const launch::installation& files) {
  const auto give_up = [](const failure& why, int status) {
    return tl::unexpected(complain("profile", why, status));
  };
  const auto otherwise = options.or_run ? launch::unrecordable::run : launch::unrecordable::refuse;
  const auto way = launch::choose_way_in_as_asked(options.way, command.front(),
                                                  options.recording.drivers.size() > 1)
                       .way;
  launch::leave_out_drivers(way, options.recording);
  if (const auto prepared = launch::prepare_recording(options.recording, otherwise); !prepared)
    return give_up(prepared.error(), exit_cannot);
  std::optional<launch::signal_relay> relay(std::in_place);
  const auto end = launch::run_recorded(command, way, files, options.recording, *relay);
  if (!end) return give_up(end.error(), launch::exit_status_of_failed_start(command.front()));
  if (options.recording.output.empty()) return *end;  // as --or-run wants it
  const auto reported = report_on_run(options, command, way, files, relay);
  if (!reported) say("profile: {}", reported.error().message);
  if (!reported && !options.or_run && end->exit_status == 0) return tl::unexpected(exit_cannot);
  return *end;
}

int profile(const CLI::App& line, profile_options& options) {
  const auto command = program_of(line);
  if (!command) return complain("profile", command.error(), exit_usage);
  const auto files = launch::find_installation();
  if (!files) return complain("profile", files.error(), exit_cannot);
  if (const auto place = may_be_replaced(options.output); !options.output.empty() && !place)
    return complain("profile", place.error(), exit_usage);
  if (const auto possible = report_target(options.report, stderr).check(); !possible)
    return complain("profile", possible.error(), exit_cannot);
  options.recording.drivers = launch::find_drivers_as_asked(options.driver);

  tl::expected<launch::program_end, int> end = tl::unexpected(exit_cannot);
  {
    const temporary_folder unkept("zevent-profile");
    std::error_code error;
    options.recording.output = options.output.empty()
                                   ? (unkept.path() / "profile.zev").string()
                                   : fs::absolute(options.output, error).string();
    end = run_profiled(options, *command, *files);
  }
  if (!end) return end.error();
  launch::end_like(*end);
}

}  // namespace

action declare_profile(CLI::App& line) {
  auto options = std::make_shared<profile_options>();
  options->recording.profile = true;
  options->recording.memory = "off";
  line.footer(
      "Every command that the device executes is timed by an event of zevent's own; the program's\n"
      "events, and what they mean, stay as they are: docs/profiling.md. A trace that is kept is "
      "one\n"
      "like any other: 'zevent summary' prints the same.\n\n"
      "The exit status and the standard output are the program's; the summary goes to standard\n"
      "error, unless --report says otherwise. Where nothing can be recorded the program is not\n"
      "started: status 2. It is 2 also for a program that ends with 0 and makes no call.");
  line.add_option("-o,--output", options->output, "keep the trace here")->type_name("FILE");
  line.add_option("--kernels", options->recording.kernels,
                  "time only launches of kernels whose names match, with * and ?")
      ->type_name("PATTERN");
  line.add_option("--report", options->report,
                  "write the summary to this file; - is standard output")
      ->type_name("FILE");
  line.add_flag("--json", options->json, "the summary as one JSON object: docs/export.md");
  line.add_option("--memory", options->recording.memory,
                  "what is kept of the memory that commands read: off, copies or full; results: "
                  "also what they wrote")
      ->check(CLI::IsMember({"off", "copies", "full", "results"}))
      ->capture_default_str();
  line.add_option("--max-size", options->recording.max_size,
                  "stop recording before it takes more than this, for example 500M or 2G; the "
                  "program goes on")
      ->check(is_recording_size())
      ->type_name("SIZE");
  line.add_option("--driver", options->driver,
                  "the driver to profile: 'software', or libraries, separated by commas (default: "
                  "those that the program would get)")
      ->type_name("LIBRARY");
  line.add_option("--way", options->way, "how the program meets the recorder: docs/recording.md")
      ->check(CLI::IsMember({"auto", "loader", "direct"}))
      ->capture_default_str();
  line.add_flag("--or-run", options->or_run,
                "run the program also where it cannot be recorded; the exit status is its own");
  line.prefix_command();
  return [&line, options] { return profile(line, *options); };
}

}  // namespace zevent::tool
