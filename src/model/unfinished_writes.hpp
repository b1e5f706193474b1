#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/command.hpp"
#include "trace/trace_file.hpp"

namespace zevent::model {

// Memory that was looked at when a call had returned.
struct memory_look {
  call_number call = no_call;
  byte_range where;
};

// For each look whether commands may have been writing there at that time, so that what was seen
// may have been something between: those that nobody had waited for, and those that other threads
// submitted before the thread that looked went on. The looks are in the order of their calls.
std::vector<bool> seen_unfinished(const trace::trace_file& trace, uint32_t process,
                                  std::span<const memory_look> looks);

}  // namespace zevent::model
