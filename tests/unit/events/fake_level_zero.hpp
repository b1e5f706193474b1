#pragma once

// A Level Zero without a device, for the unit tests of the library: one driver, one device; it
// records what is appended, counts what is alive, and fails or lacks what it is told to.

#include <level_zero/ze_api.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace fake {

struct event {
  std::atomic<bool> signalled{false};
  bool counter_based = false;
  ze_kernel_timestamp_result_t times{};
};

struct list {
  bool immediate = false;
  ze_command_list_flags_t flags = 0;
  ze_command_queue_flags_t queue_flags = 0;

  ze_command_list_handle_t handle() { return reinterpret_cast<ze_command_list_handle_t>(this); }
};

struct command {
  std::string what;  // "copy", "region" or "barrier"
  ze_event_handle_t signal;
  std::vector<ze_event_handle_t> waits;
  void* destination = nullptr;
  const void* source = nullptr;
  size_t bytes = 0;
  ze_copy_region_t region{};
};

// What the driver offers, and where it fails.
struct level_zero {
  bool standard_counter_based = true;
  bool extension_counter_based = true;
  bool pool_extension = true;
  bool lists_answer = true;
  uint64_t failing_append = UINT64_MAX;  // the append that runs out of memory, counted from 0
  ze_result_t reset_result = ZE_RESULT_SUCCESS;
  bool reset_keeps_state = false;                // a reset says SUCCESS and does nothing
  ze_result_t query_result = ZE_RESULT_SUCCESS;  // of a signalled event

  std::vector<command> commands;
  std::atomic<int> live_events{0};
  std::atomic<int> live_pools{0};
  std::atomic<int> resets{0};
  std::vector<uint32_t> pool_counts;    // of each pool made
  std::vector<uint32_t> counter_flags;  // of each counter-based event made
};

// A fresh one for a test; the last is forgotten.
level_zero& install();

ze_context_handle_t context();
ze_device_handle_t device();
inline event& of(ze_event_handle_t handle) {
  return *reinterpret_cast<event*>(handle);
}
// A handle for tests that only look at where it goes.
ze_event_handle_t named_event(int number);

}  // namespace fake
