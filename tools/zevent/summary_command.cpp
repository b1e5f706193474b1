#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/terminal.hpp"
#include "command.hpp"
#include "report/progress_bar.hpp"
#include "report/summary_output.hpp"
#include "report/text_output.hpp"
#include "trace_argument.hpp"

namespace zevent::tool {
namespace {

struct summary_line {
  trace_argument trace;
  report::summary_options how;
  bool json = false;
};

report::trace_summary read_summary(const trace::trace_file& trace, const trace::call_filter& filter,
                                   report::summary_options how) {
  report::progress_bar bar("reading the calls");
  how.progress = [&](uint64_t done, uint64_t total) { bar.update(done, total); };
  return report::summarise(trace, filter, how);
}

int summary(const summary_line& line) {
  const auto opened = open_argument("summary", line.trace);
  if (!opened) return complain("summary", opened.error(), exit_cannot);
  const auto filter = filter_of(line.trace, opened->trace);
  if (!filter) return complain("summary", filter.error(), exit_usage);

  const auto found = read_summary(opened->trace, *filter, line.how);
  report::text_output out(STDOUT_FILENO);
  if (line.json) {
    report::write_summary_json(opened->trace, found, out);
  } else {
    const bool on_terminal = isatty(STDOUT_FILENO) != 0;
    report::write_summary_text(
        opened->trace, found,
        {line.trace.path, wants_colour(stdout), on_terminal ? terminal_width(stdout) : 0}, out);
  }
  return report_damage("summary", found.damage);
}

}  // namespace

action declare_summary(CLI::App& line) {
  auto options = std::make_shared<summary_line>();
  declare_filtered_trace(line, options->trace);
  line.add_flag("--json", options->json, "one JSON object: docs/export.md");
  line.add_option("--slowest", options->how.slowest, "how many of the slowest calls to list")
      ->capture_default_str();
  return [options] { return summary(*options); };
}

}  // namespace zevent::tool
