#pragma once

#include <functional>
#include <vector>

#include "report/call_text.hpp"
#include "report/text_output.hpp"
#include "trace/call_filter.hpp"
#include "trace/trace_file.hpp"

namespace zevent::report {

struct show_options {
  bool coloured = false;
  bool json = false;      // a JSON object a line instead of text
  bool waits = false;     // say of each append what it waits for
  bool injected = false;  // also calls that a tool made
  bool usage = false;     // say of slow calls what their threads did meanwhile
  handle_style handles = handle_style::names;
  std::function<void(uint64_t, uint64_t)> progress;  // of the work before the first line
};

// Writes the calls that pass the filter, one a line. Gives what could not be read.
std::vector<trace::file_damage> show(const trace::trace_file& trace,
                                     const trace::call_filter& filter, const show_options& options,
                                     text_output& out);

}  // namespace zevent::report
