#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/byte_region.hpp"
#include "model/unfinished_writes.hpp"
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

// For each look the parts of it that held such times then. The looks are in the order of their
// calls.
std::vector<std::vector<byte_range>> seen_timestamps(const trace::trace_file& trace,
                                                     uint32_t process,
                                                     std::span<const memory_look> looks);

// Whether a function of that name appends a command that writes times to memory.
bool writes_timestamps(std::string_view function_name);

}  // namespace zevent::model
