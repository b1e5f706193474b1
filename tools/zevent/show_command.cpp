#include <unistd.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <optional>
#include <system_error>

#include "base/terminal.hpp"
#include "command.hpp"
#include "report/pager.hpp"
#include "report/progress_bar.hpp"
#include "report/show.hpp"
#include "trace_argument.hpp"

namespace zevent::tool {
namespace {

struct show_line {
  trace_argument trace;
  report::show_options how;
  bool no_pager = false;
};

int show(const show_line& line) {
  const auto opened = open_argument("show", line.trace);
  if (!opened) return complain("show", opened.error(), exit_cannot);
  const auto filter = filter_of(line.trace, opened->trace);
  if (!filter) return complain("show", filter.error(), exit_usage);

  auto how = line.how;
  how.coloured = !how.json && wants_colour(stdout);
  how.injected |= line.trace.filter_text().find("injected") != std::string::npos;
  std::optional<report::progress_bar> bar(std::in_place, "looking for what waits");
  how.progress = [&](uint64_t done, uint64_t total) { bar->update(done, total); };
  std::vector<trace::file_damage> damage;
  {
    std::optional<report::pager> through;
    if (!line.no_pager && !how.json) through.emplace();
    try {
      report::text_output out(STDOUT_FILENO);
      damage = report::show(opened->trace, *filter, how, out);
    } catch (const std::system_error& error) {
      const bool was_left = through && through->running();
      if (!was_left || error.code() != std::errc::broken_pipe) throw;
    }
  }
  return report_damage("show", damage);
}

}  // namespace

action declare_show(CLI::App& line) {
  auto options = std::make_shared<show_line>();
  declare_filtered_trace(line, options->trace);
  line.add_flag("--deps", options->how.waits,
                "below each append, the commands that it waits for; below a query or a wait, who "
                "signals the event");
  line.add_flag("--usage", options->how.usage,
                "below each slow call, what its thread did meanwhile: whether it had a processor");
  line.add_flag("--json", options->how.json, "one JSON object a line: docs/export.md");
  static const std::map<std::string, report::handle_style> styles = {
      {"names", report::handle_style::names},
      {"values", report::handle_style::values},
      {"both", report::handle_style::both}};
  line.add_option_function<std::string>(
          "--handles",
          [options](const std::string& word) { options->how.handles = styles.at(word); },
          "objects by names, values or both")
      ->check(CLI::IsMember({"names", "values", "both"}))
      ->option_text("STYLE");
  line.add_flag("--injected", options->how.injected, "also the calls that a tool made");
  line.add_flag("--no-pager", options->no_pager, "never through $PAGER");
  return [options] { return show(*options); };
}

}  // namespace zevent::tool
