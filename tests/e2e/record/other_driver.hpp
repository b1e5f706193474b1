#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>

namespace zevent::recorder_test {

// What the other driver does in zeEventQueryStatus, by the value of the handle.
enum class misdeed : uintptr_t { crash = 1, abort, exit, hang, call_back };

inline ze_event_handle_t event_for(misdeed deed) {
  return reinterpret_cast<ze_event_handle_t>(deed);
}

inline const auto recycled_event = reinterpret_cast<ze_event_handle_t>(uintptr_t{0x1234560});

using future_signature = uint64_t(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                                  uint64_t, double);

}  // namespace zevent::recorder_test

// Called by misdeed::call_back; the test sets it.
extern "C" [[gnu::visibility("default")]] ze_result_t (*callback_of_driver)();
