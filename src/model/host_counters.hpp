#pragma once

#include <cstdint>
#include <vector>

#include "model/command.hpp"
#include "trace/trace_file.hpp"

namespace zevent::model {

// The storage of an external counter that no command writes: the host must have written it, at the
// latest before the call that shows that somebody got the value he waited for.
struct host_counter_write {
  call_number before = no_call;
  uint64_t address = 0;
  uint64_t value = 0;  // at least
};

// In the order in which the calls ended.
std::vector<host_counter_write> find_host_counter_writes(const trace::trace_file& trace,
                                                         uint32_t process);

}  // namespace zevent::model
