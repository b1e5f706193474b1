#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "trace/call_filter.hpp"
#include "trace/open_trace.hpp"

namespace CLI {
class App;
}

// What the verbs that read a trace have in common: TRACE and FILTER on the command line, a bar
// while a recording is packed, warnings about what is not whole.
namespace zevent::tool {

struct trace_argument {
  std::string path;
  std::vector<std::string> filter_words;

  std::string filter_text() const;
};

void declare_trace(CLI::App& line, trace_argument& argument);
// The same with a filter behind it, explained at the end of the help.
void declare_filtered_trace(CLI::App& line, trace_argument& argument);

// Opens a trace; a program in its place is said to be one.
result<trace::opened_trace> open_named(std::string_view verb, const std::string& path,
                                       const trace::pack_options& options = {});

// The same, with a bar while a recording is packed, and what is wrong with it on stderr.
result<trace::opened_trace> open_argument(std::string_view verb, const trace_argument& argument);

result<trace::call_filter> filter_of(const trace_argument& argument,
                                     const trace::trace_file& trace);

// Says what could not be read; gives the exit status, 0 where all could.
int report_damage(std::string_view verb, std::span<const trace::file_damage> damage);

}  // namespace zevent::tool
