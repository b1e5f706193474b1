#pragma once

#include <string>

#include "report/text_output.hpp"
#include "report/trace_summary.hpp"

namespace zevent::report {

struct summary_style {
  std::string title;  // how the trace is called
  bool coloured = false;
  unsigned columns = 0;  // lines are cut at this width; 0: never
};

// Tables for people.
void write_summary_text(const trace::trace_file& trace, const trace_summary& summary,
                        const summary_style& style, text_output& out);

// The same as one JSON object; docs/export.md says what is in it.
void write_summary_json(const trace::trace_file& trace, const trace_summary& summary,
                        text_output& out);

}  // namespace zevent::report
