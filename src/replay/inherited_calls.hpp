#pragma once

#include <cstdint>

#include "trace/trace_file.hpp"

namespace zevent::replay {

// What a process that was forked off needs of the calls that its parent had made by then. A replay
// does not fork: the process makes these calls itself, before its own.
enum class inheritance : uint8_t {
  nothing,         // it was not forked off, or it begins anew
  initialisation,  // that Level Zero is initialised, and no object
  everything,      // objects that were there
};

// Of the calls of the process up to that one.
inheritance find_inheritance(const trace::trace_file& trace, uint32_t process, uint64_t last_call);

// One of the functions that a program calls first.
bool is_initialisation(const api::function& function);

}  // namespace zevent::replay
