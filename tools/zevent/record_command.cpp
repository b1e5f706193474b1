#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/byte_size.hpp"
#include "base/message.hpp"
#include "base/terminal.hpp"
#include "command.hpp"
#include "launch/program.hpp"
#include "launch/recorded_run.hpp"
#include "launch/unrecorded_program.hpp"
#include "report/progress_bar.hpp"
#include "report/recorded_driver.hpp"
#include "trace/pack.hpp"
#include "trace/trace_file.hpp"

namespace zevent::tool {
namespace {

namespace fs = std::filesystem;

struct record_options {
  std::string output = "trace.zev";  // as it was given
  launch::recording_options recording;
  std::string driver;
  std::string way = "auto";
  bool keep_parts = false;
  bool or_run = false;
  bool quiet = false;
  bool verbose = false;
};

std::string counted(uint64_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : what.ends_with("s") ? "es" : "s");
}

// "0 lost", or how many and why.
std::string lost_text(const trace::pack_report& report) {
  const auto text = fmt::format("{} lost", report.lost_calls);
  if (report.stop_reason.empty()) return text;
  return fmt::format("{} (recording stopped: {})", text, report.stop_reason);
}

// Says on which hardware it was, as the trace tells it.
void say_driver(const std::string& output) {
  if (const auto opened = trace::trace_file::open(output))
    for (const auto& each : report::describe_hardware_drivers(opened->run()))
      say("recorded on {}", each);
}

// Makes the trace of the parts and says so. False: there is no trace with a call of this run.
bool pack(const record_options& options) {
  const auto report = [&] {
    std::optional<report::progress_bar> bar;
    trace::pack_options how;
    const auto folder = launch::parts_folder_of(options.recording.output);
    launch::second_request interrupted(
        fmt::format("packing {}; interrupt again to leave it as it is in {}", options.output,
                    launch::parts_folder_of(options.output)));
    how.cancelled = [&] { return interrupted.came(); };
    if (!options.quiet) bar.emplace("packing " + options.output);
    how.progress = [&](uint64_t done, uint64_t total) {
      if (bar) bar->update(done, total);
    };
    return trace::pack_finished_run(folder, options.recording.output, options.keep_parts, how);
  }();
  if (!report) {
    say("record: {}", report.error().message);
    launch::remove_older_trace(options.recording.output);
    return false;
  }
  for (const auto& damage : report->damage) say("record: {}", damage);
  if (!options.quiet) {
    say_driver(options.recording.output);
    say("{}, {}, {}, {}, {}: {}", counted(report->calls, "call"),
        counted(report->threads, "thread"), counted(report->processes, "process"),
        lost_text(*report), byte_size_text(report->size_bytes), options.output);
  }
  return report->calls != 0;
}

// False: there is no trace with a call of this run.
bool keep_trace(const record_options& options, const std::vector<std::string>& command,
                launch::way_in way, const launch::installation& files) {
  if (!launch::remove_if_unused(launch::parts_folder_of(options.recording.output)))
    return pack(options);
  say("record: no call was recorded: {}", launch::explain_unrecorded(command, way, files));
  launch::remove_older_trace(options.recording.output);
  return false;
}

int record(const CLI::App& line, record_options& options) {
  const auto command = program_of(line);
  if (!command) return complain("record", command.error(), exit_usage);
  const auto files = launch::find_installation();
  if (!files) return complain("record", files.error(), exit_cannot);

  auto& recording = options.recording;
  if (options.output.empty())
    return complain("record", failure{"the trace has no name; give a file with -o"}, exit_usage);
  if (options.output == "-")
    return complain("record", failure{"a trace is not written to a pipe; give a file with -o"},
                    exit_usage);
  std::error_code error;
  recording.output = fs::absolute(options.output, error).string();
  if (const auto place = may_be_replaced(options.output); !place)
    return complain("record", place.error(), exit_usage);
  recording.drivers = launch::find_drivers_as_asked(options.driver);
  const auto choice =
      launch::choose_way_in_as_asked(options.way, command->front(), recording.drivers.size() > 1);
  launch::leave_out_drivers(choice.way, recording);
  if (options.verbose)
    fmt::print(stderr, "zevent: {} is recorded by the way '{}' ({}), on {}\n", command->front(),
               launch::name_of(choice.way), choice.reason,
               recording.drivers.empty() ? files->driver
                                         : fmt::format("{}", fmt::join(recording.drivers, ", ")));

  const auto otherwise = options.or_run ? launch::unrecordable::run : launch::unrecordable::refuse;
  if (const auto prepared = launch::prepare_recording(recording, otherwise); !prepared)
    return complain("record", prepared.error(), exit_cannot);
  launch::signal_relay relay;
  const auto end = launch::run_recorded(*command, choice.way, *files, recording, relay);
  if (!end)
    return complain("record", end.error(), launch::exit_status_of_failed_start(command->front()));
  const bool is_recorded =
      !recording.output.empty() && keep_trace(options, *command, choice.way, *files);
  if (!is_recorded && !options.or_run && end->exit_status == 0) return exit_cannot;
  launch::end_like(*end);
}

}  // namespace

action declare_record(CLI::App& line) {
  auto options = std::make_shared<record_options>();
  line.footer(
      "The exit status is the program's, and so are its terminal, its input and output and its\n"
      "signals. Scripts and programs that start others are recorded whole: all processes go into\n"
      "one trace. Whatever becomes of the program, the calls that it made are in the trace.\n\n"
      "Where nothing can be recorded the program is not started: status 2. It is 2 also for a\n"
      "program that ends with 0 and makes no call; an older trace of that name is removed.");
  line.add_option("-o,--output", options->output, "the trace to write")
      ->capture_default_str()
      ->type_name("FILE");
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
                  "the driver to record: 'software', or libraries, separated by commas (default: "
                  "those that the program would get)")
      ->type_name("LIBRARY");
  line.add_option("--way", options->way, "how the program meets the recorder: docs/recording.md")
      ->check(CLI::IsMember({"auto", "loader", "direct"}))
      ->capture_default_str();
  line.add_flag("--or-run", options->or_run,
                "run the program also where it cannot be recorded; the exit status is its own");
  line.add_flag("--keep-parts", options->keep_parts, "leave what the processes wrote beside it");
  line.add_flag("-q,--quiet", options->quiet, "say nothing at the end");
  line.add_flag("-v,--verbose", options->verbose, "say which way and which driver were taken");
  line.prefix_command();
  return [&line, options] { return record(line, *options); };
}

}  // namespace zevent::tool
