#pragma once

#include <cstdint>

#include "api/result_code.hpp"

namespace zevent::trace {

// Calls are numbered from 0 over the whole run, in the order in which they were started.
enum class call_number : uint64_t {};

constexpr uint64_t number_of(call_number number) {
  return static_cast<uint64_t>(number);
}

// Starts and durations of a trace are not larger: whoever adds two need not think of overflow.
inline constexpr uint64_t latest_time_ns = (uint64_t{1} << 62) - 1;

enum call_flag : uint8_t {
  call_returned = 1,  // absent: the program ended, or the recording was looked at, inside the call
  call_injected = 2,  // made by a tool, not by the program
};

// What every call has. Arguments are apart: most readers skip most of them.
struct call {
  call_number number{};
  uint64_t start_ns = 0;     // since the first call of the run
  uint64_t duration_ns = 0;  // 0 when it did not return
  uint32_t function = 0;     // index into the trace's functions
  uint32_t thread = 0;       // index into the trace's threads
  uint32_t result = 0;       // the bits of the ze_result_t; 0 when it did not return
  uint8_t flags = 0;         // of call_flag

  bool returned() const { return (flags & call_returned) != 0; }
  bool failed() const { return returned() && api::is_error(result); }
  bool injected() const { return (flags & call_injected) != 0; }
  uint64_t end_ns() const { return start_ns + duration_ns; }
};

}  // namespace zevent::trace
