#pragma once

#include <level_zero/ze_api.h>

#include <cstddef>
#include <cstdint>
#include <map>

#include "driver/device.hpp"
#include "driver/fork_safety.hpp"

namespace zevent::driver {

// What programs have said about atomics in ranges of shared memory and of their own, per device.
// All memory has all atomics here, so that it is remembered and has no other effect.
class atomic_access {
 public:
  static atomic_access& instance();

  // The last call for an address counts.
  void set(const device& on, const void* start, size_t bytes,
           ze_memory_atomic_attr_exp_flags_t attributes);
  // 0 where nothing was said.
  ze_memory_atomic_attr_exp_flags_t get(const device& on, const void* address);
  // The range is not used any more.
  void forget(const void* start, size_t bytes);

 private:
  struct range {
    uintptr_t end;
    ze_memory_atomic_attr_exp_flags_t attributes;
  };
  using ranges = std::map<uintptr_t, range>;  // by start; they do not overlap

  static void cut_out(ranges& from, uintptr_t start, uintptr_t end);

  fork_safe_mutex mutex_{fork_safe_mutex::rank::inner};  // guards by_device_
  std::map<uint32_t, ranges> by_device_;                 // by the device's index
};

}  // namespace zevent::driver
