#include "trace_argument.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "command.hpp"
#include "file_kind.hpp"
#include "report/progress_bar.hpp"

namespace zevent::tool {
namespace {

std::string explain_filters() {
  std::string text =
      "FILTER says which calls; without one, all. Conditions are joined by 'and', 'or', 'not'\n"
      "and parentheses:\n";
  for (const auto& each : trace::filter_conditions())
    text += fmt::format("  {:<18} {}\n", each.form, each.meaning);
  return text;
}

}  // namespace

std::string trace_argument::filter_text() const {
  return fmt::format("{}", fmt::join(filter_words, " "));
}

void declare_trace(CLI::App& line, trace_argument& argument) {
  line.add_option("TRACE", argument.path,
                  "a .zev file, or a recording that is not finished (its folder)")
      ->required();
}

void declare_filtered_trace(CLI::App& line, trace_argument& argument) {
  declare_trace(line, argument);
  line.add_option("FILTER", argument.filter_words, "which calls, see below");
  line.footer(explain_filters());
}

result<trace::opened_trace> open_named(std::string_view verb, const std::string& path,
                                       const trace::pack_options& options) {
  auto opened = trace::open_trace(path, options);
  if (opened || kind_of(path) != file_kind::program) return opened;
  // Only one verb that reads traces runs programs too.
  return fail("{} is a program, not a trace; 'zevent {} -- {}' {}", path,
              verb == "check" ? "check" : "record", path,
              verb == "check" ? "checks it" : "makes a trace");
}

result<trace::opened_trace> open_argument(std::string_view verb, const trace_argument& argument) {
  report::progress_bar bar("reading the recording");
  trace::pack_options options;
  options.progress = [&](uint64_t done, uint64_t total) { bar.update(done, total); };
  auto opened = open_named(verb, argument.path, options);
  if (opened)
    for (const auto& warning : opened->warnings)
      fmt::print(stderr, "zevent: {}: note: {}\n", verb, warning);
  return opened;
}

result<trace::call_filter> filter_of(const trace_argument& argument,
                                     const trace::trace_file& trace) {
  if (argument.filter_words.empty()) return trace::call_filter();
  return trace::call_filter::compile(argument.filter_text(), trace.names());
}

int report_damage(std::string_view verb, std::span<const trace::file_damage> damage) {
  for (const auto& each : damage)
    fmt::print(stderr, "zevent: {}: note: {}; its calls are missing\n", verb, each.what);
  return damage.empty() ? 0 : exit_found;
}

}  // namespace zevent::tool
