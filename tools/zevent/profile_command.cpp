#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/message.hpp"
#include "base/temporary_folder.hpp"
#include "base/terminal.hpp"
#include "command.hpp"
#include "launch/program.hpp"
#include "launch/recorded_run.hpp"
#include "report/summary_output.hpp"
#include "report/text_output.hpp"
#include "trace/pack.hpp"

namespace zevent::tool {
namespace {

namespace fs = std::filesystem;

struct profile_options {
  std::string output;  // as it was given; empty: the trace is not kept
  launch::recording_options recording;
  std::string way = "auto";
  bool json = false;
};

void print_summary(const trace::trace_file& trace, const profile_options& options) {
  // A pipe that nobody reads any more ends the verb by an error, so that the folder is removed. The
  // program, which would inherit this, has ended.
  std::signal(SIGPIPE, SIG_IGN);
  const auto found = report::summarise(trace, trace::call_filter{}, {});
  report::text_output out(STDOUT_FILENO);
  if (options.json) return report::write_summary_json(trace, found, out);
  const bool on_terminal = isatty(STDOUT_FILENO) != 0;
  report::write_summary_text(trace, found,
                             {options.output.empty() ? "profile" : options.output,
                              wants_colour(stdout), on_terminal ? terminal_width(stdout) : 0},
                             out);
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
  print_summary(*opened, options);
  if (packed.lost_calls != 0)
    say("profile: {} calls were not recorded{}{}", packed.lost_calls,
        packed.stop_reason.empty() ? "" : "; recording stopped: ", packed.stop_reason);
  if (packed.timed_commands == 0)
    say("profile: no command ran on a device, or none that was to be timed");
  return {};
}

// Gives the program's end, in whatever way it came; an exit status where it was not started.
tl::expected<launch::program_end, int> run_profiled(profile_options& options,
                                                    const std::vector<std::string>& command,
                                                    const launch::installation& files) {
  const auto give_up = [](const failure& why, int status) {
    return tl::unexpected(complain("profile", why, status));
  };
  if (const auto prepared = launch::prepare_recording(options.recording); !prepared)
    return give_up(prepared.error(), 1);
  const auto way = launch::choose_way_in_as_asked(options.way, command.front()).way;
  std::optional<launch::signal_relay> relay(std::in_place);
  const auto end = launch::run_recorded(command, way, files, options.recording, *relay);
  if (!end) return give_up(end.error(), launch::exit_status_of_failed_start(command.front()));
  if (options.recording.output.empty()) return *end;
  const auto packed = pack(options);
  relay.reset();  // a request to end ends the printing, as ever
  const auto reported =
      packed ? report_on(options, *packed) : result<void>(tl::unexpected(packed.error()));
  if (!reported) say("profile: {}", reported.error().message);
  return *end;
}

int profile(const CLI::App& line, profile_options& options) {
  const auto command = program_of(line);
  if (!command) return complain("profile", command.error(), exit_usage);
  const auto files = launch::find_installation();
  if (!files) return complain("profile", files.error(), 1);
  if (const auto place = may_be_replaced(options.output); !options.output.empty() && !place)
    return complain("profile", place.error(), exit_usage);
  options.recording.driver = launch::find_driver_as_asked(options.recording.driver);

  tl::expected<launch::program_end, int> end = tl::unexpected(1);
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
      "events, and what they mean, stay as they are: docs/profiling.md. The exit status is the\n"
      "program's. A trace that is kept is one like any other: 'zevent summary' prints the same.");
  line.add_option("-o,--output", options->output, "keep the trace here")->type_name("FILE");
  line.add_option("--kernels", options->recording.kernels,
                  "time only launches of kernels whose names match, with * and ?")
      ->type_name("PATTERN");
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
  line.add_option("--driver", options->recording.driver,
                  "the driver to profile: 'software', or a library (default: the one that the "
                  "program would get)")
      ->type_name("LIBRARY");
  line.add_option("--way", options->way, "how the program meets the recorder: docs/recording.md")
      ->check(CLI::IsMember({"auto", "loader", "direct"}))
      ->capture_default_str();
  line.prefix_command();
  return [&line, options] { return profile(line, *options); };
}

}  // namespace zevent::tool
