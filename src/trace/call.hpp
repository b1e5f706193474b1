#pragma once

#include <cstdint>

namespace zevent::trace {

// Calls are numbered from 0 over the whole run, in the order in which they were started.
enum class call_number : uint64_t {};

constexpr uint64_t number_of(call_number number) {
  return static_cast<uint64_t>(number);
}

enum call_flag : uint8_t {
  call_returned = 1,  // absent: the program ended, or the recording was looked at, inside the call
  call_injected = 2,  // made by a tool, not by the program
};

// Results that are not errors, by their numbers in ze_result_t: a trace may be newer or older than
// the headers of this build.
constexpr bool is_error(uint32_t result) {
  constexpr uint32_t success = 0, not_ready = 1, build_retry = 0x7ff00005,
                     build_deferred = 0x7ff00006, dropped_data = 0x70020001;
  return result != success && result != not_ready && result != build_retry &&
         result != build_deferred && result != dropped_data;
}

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
  bool failed() const { return returned() && is_error(result); }
  bool injected() const { return (flags & call_injected) != 0; }
  uint64_t end_ns() const { return start_ns + duration_ns; }
};

}  // namespace zevent::trace
