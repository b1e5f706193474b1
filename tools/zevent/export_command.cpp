#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "command.hpp"
#include "report/progress_bar.hpp"
#include "report/show.hpp"
#include "report/sqlite_export.hpp"
#include "report/text_output.hpp"
#include "report/unfinished_file.hpp"
#include "trace_argument.hpp"

namespace zevent::tool {
namespace {

struct export_line {
  trace_argument trace;
  std::string sqlite_file;
  std::string jsonl_file;
};

using damage_list = std::vector<trace::file_damage>;

result<damage_list> write_sqlite(const trace::trace_file& trace, const trace::call_filter& filter,
                                 const std::string& file) {
  report::progress_bar bar("writing " + file);
  auto report = report::export_sqlite(
      trace, filter, file, [&](uint64_t done, uint64_t total) { bar.update(done, total); });
  if (!report) return tl::unexpected(report.error());
  return std::move(report->damage);
}

result<damage_list> write_lines(const trace::trace_file& trace, const trace::call_filter& filter,
                                int descriptor, const std::string& file) {
  if (descriptor < 0) return fail("cannot write {}: {}", file, strerror(errno));
  report::show_options how;
  how.json = how.waits = how.injected = true;
  report::progress_bar bar("looking for what waits");
  how.progress = [&](uint64_t done, uint64_t total) { bar.update(done, total); };
  damage_list damage;
  {
    report::text_output out(descriptor);
    damage = report::show(trace, filter, how, out);
  }
  if (close(descriptor) != 0) return fail("cannot write {}: {}", file, strerror(errno));
  return damage;
}

result<damage_list> write_jsonl(const trace::trace_file& trace, const trace::call_filter& filter,
                                const std::string& file) {
  if (file == "-") return write_lines(trace, filter, dup(STDOUT_FILENO), "the output");
  constexpr int how = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  // A pipe, or what a link such as /dev/stdout leads to, is written to as it is.
  if (!may_be_replaced(file)) return write_lines(trace, filter, open(file.c_str(), how), file);
  report::unfinished_file unfinished(file);
  auto damage = write_lines(trace, filter, open(unfinished.path().c_str(), how, 0666), file);
  if (!damage) return damage;
  if (auto done = unfinished.finish(); !done) return tl::unexpected(done.error());
  return damage;
}

// A slip of the hand is not to cost a recording.
result<void> spare_the_trace(const export_line& line) {
  if (line.sqlite_file == "-") return fail("a database cannot go to a pipe; give a file");
  if (auto place = may_be_replaced(line.sqlite_file); !place) return place;
  std::error_code error;
  for (const auto& file : {line.sqlite_file, line.jsonl_file})
    if (!file.empty() && std::filesystem::equivalent(file, line.trace.path, error))
      return fail("{} is the trace itself; give another file", file);
  return {};
}

int export_trace(const export_line& line) {
  if (line.sqlite_file.empty() && line.jsonl_file.empty())
    return complain("export", failure{"where to? give --sqlite FILE or --jsonl FILE"}, exit_usage);
  const auto opened = open_argument("export", line.trace);
  if (!opened) return complain("export", opened.error(), exit_cannot);
  if (const auto spared = spare_the_trace(line); !spared)
    return complain("export", spared.error(), exit_usage);
  const auto filter = filter_of(line.trace, opened->trace);
  if (!filter) return complain("export", filter.error(), exit_usage);

  damage_list damage;
  if (!line.sqlite_file.empty()) {
    auto written = write_sqlite(opened->trace, *filter, line.sqlite_file);
    if (!written) return complain("export", written.error(), exit_cannot);
    damage = std::move(*written);
  }
  if (!line.jsonl_file.empty()) {
    auto written = write_jsonl(opened->trace, *filter, line.jsonl_file);
    if (!written) return complain("export", written.error(), exit_cannot);
    damage = std::move(*written);
  }
  return report_damage("export", damage);
}

}  // namespace

action declare_export(CLI::App& line) {
  auto options = std::make_shared<export_line>();
  declare_filtered_trace(line, options->trace);
  line.add_option("--sqlite", options->sqlite_file, "an SQLite database: docs/export.md")
      ->option_text("FILE");
  line.add_option("--jsonl", options->jsonl_file, "a JSON object a line; - is standard output")
      ->option_text("FILE");
  return [options] { return export_trace(*options); };
}

}  // namespace zevent::tool
