#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "check/finding.hpp"
#include "check/rule_set.hpp"
#include "trace/trace_file.hpp"

namespace zevent::check {

struct check_result {
  std::vector<finding> findings;
  uint64_t calls = 0;
  std::vector<std::string> notes;  // what could not be checked, a line each
};

// Checks all that is in a trace. `progress` is told calls done and calls in all, now and then.
check_result check_trace(const trace::trace_file& trace, const check_options& options = {},
                         const std::function<void(uint64_t, uint64_t)>& progress = {});

// Names as every verb has them: "event_3".
object_namer names_of(const trace::trace_file& trace);

}  // namespace zevent::check
