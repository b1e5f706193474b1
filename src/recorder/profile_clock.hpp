#pragma once

#include <level_zero/ze_api.h>

#include <atomic>
#include <cstdint>
#include <string>

namespace zevent::recorder {

// The clock of one device, compared with ticks() now and then, so that a reader can put the
// device's times on the host's axis.
class profile_clock {
 public:
  profile_clock(ze_device_handle_t device, uint16_t number);

  uint16_t number() const { return number_; }

  // Writes a point of comparison into this thread's log.
  void compare();
  // The same if it is time to.
  void compare_if_due(uint64_t now_ticks) {
    // relaxed: a turn may come early or late.
    if (now_ticks >= due_.load(std::memory_order_relaxed)) [[unlikely]]
      take_turn(now_ticks);
  }

 private:
  void take_turn(uint64_t now_ticks);

  const ze_device_handle_t device_;
  const uint16_t number_;
  uint64_t timestamps_per_second_ = 0;
  uint32_t valid_bits_ = 64;
  uint32_t kernel_valid_bits_ = 64;
  std::string name_;
  uint64_t period_ticks_;
  std::atomic<uint64_t> due_{0};
};

}  // namespace zevent::recorder
