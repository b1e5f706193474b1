#pragma once

#include <cstdint>
#include <vector>

#include "model/byte_region.hpp"
#include "trace/trace_file.hpp"

namespace zevent::model {

// Memory that holds a time of the device in the end: another one in every run.
struct timestamp_memory {
  byte_range where;
  uint64_t at_ns = 0;  // when the command that wrote it was let start
};

// What commands that write timestamps have written, and where copies have taken it. What is
// overwritten by something else is left out. Kernels that compute with times are not followed.
std::vector<timestamp_memory> find_timestamp_memory(const trace::trace_file& trace,
                                                    uint32_t process);

}  // namespace zevent::model
