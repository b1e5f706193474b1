#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>

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

// Packs what was recorded and prints where the time went.
result<void> report_on(const profile_options& options) {
  const std::string folder = launch::parts_folder_of(options.recording.output);
  std::error_code error;
  if (fs::is_empty(folder, error)) {
    fs::remove(folder, error);
    return fail("nothing was recorded: the program called no Level Zero function");
  }
  const auto packed = trace::pack_recording(folder, options.recording.output);
  if (!packed) return tl::unexpected(packed.error());
  for (const auto& damage : packed->damage) fmt::print(stderr, "zevent: profile: {}\n", damage);
  if (packed->damage.empty()) fs::remove_all(folder, error);
  const auto opened = trace::trace_file::open(options.recording.output);
  if (!opened) return tl::unexpected(opened.error());
  print_summary(*opened, options);
  if (packed->timed_commands == 0)
    fmt::print(stderr,
               "zevent: profile: no command ran on a device, or none that was to be timed\n");
  return {};
}

// Gives the program's end, in whatever way it came.
result<launch::program_end> run_profiled(const profile_options& options,
                                         const std::vector<std::string>& command,
                                         const launch::installation& files) {
  const auto prepared = launch::prepare_parts_folder(options.recording.output);
  if (!prepared) return tl::unexpected(prepared.error());
  const char* library_path = std::getenv("LD_LIBRARY_PATH");
  const auto changes = launch::environment_for_recording(
      launch::choose_way_in_as_asked(options.way, command.front()).way, files, options.recording,
      library_path != nullptr ? std::optional<std::string>(library_path) : std::nullopt);
  auto end = launch::run_program(command, changes);
  const std::string folder = launch::parts_folder_of(options.recording.output);
  if (!end) {
    std::error_code error;
    fs::remove(folder, error);
    return end;
  }
  launch::wait_for_recording_processes(folder);
  if (const auto reported = report_on(options); !reported) complain("profile", reported.error(), 1);
  return end;
}

int profile(const CLI::App& line, profile_options& options) {
  const auto command = program_of(line);
  if (!command) return complain("profile", command.error(), exit_usage);
  const auto files = launch::find_installation();
  if (!files) return complain("profile", files.error(), 1);
  if (options.recording.driver.empty()) options.recording.driver = launch::find_driver_to_record();
  if (options.recording.driver == "software") options.recording.driver = "";

  result<launch::program_end> end = fail("");
  {
    const temporary_folder unkept("zevent-profile");
    std::error_code error;
    options.recording.output = options.output.empty()
                                   ? (unkept.path() / "profile.zev").string()
                                   : fs::absolute(options.output, error).string();
    end = run_profiled(options, *command, *files);
  }
  if (!end)
    return complain("profile", end.error(),
                    launch::find_in_path(command->front()).empty() ? launch::exit_not_found
                                                                   : launch::exit_not_executable);
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
  line.add_option("-o,--output", options->output, "keep the trace here");
  line.add_option("--kernels", options->recording.kernels,
                  "time only launches of kernels whose names match, with * and ?");
  line.add_flag("--json", options->json, "the summary as one JSON object: docs/export.md");
  line.add_option("--memory", options->recording.memory,
                  "what is kept of the memory that commands read: off, copies or full")
      ->check(CLI::IsMember({"off", "copies", "full"}))
      ->capture_default_str();
  line.add_option("--driver", options->recording.driver,
                  "the driver to profile: 'software', or a library (default: the one that the "
                  "program would get)");
  line.add_option("--way", options->way, "auto, loader or direct")
      ->check(CLI::IsMember({"auto", "loader", "direct"}))
      ->capture_default_str();
  line.prefix_command();
  return [&line, options] { return profile(line, *options); };
}

}  // namespace zevent::tool
