#pragma once

#include <atomic>
#include <cstdint>

namespace zevent::driver {

// The time of the host: CLOCK_MONOTONIC. Timestamps, time limits and every bound that the driver
// keeps are measured by it, and a delay sleeps by it.
//
// A test that is linked to the driver's objects can stop the clock. Then only advance() and the
// driver's own delays move it, and no result depends on how fast the machine is. The driver counts
// how often chaos looked at the stopped clock, so that a test can wait until a change was seen.
class host_clock {
 public:
  static uint64_t now_ns();
  static void sleep_ns(uint64_t time_ns);

  // For tests, before other threads use the driver.
  static void stop();
  static void advance(uint64_t time_ns);
  static bool is_stopped() { return is_stopped_.load(std::memory_order_relaxed); }

  // Chaos holds a stream back and has looked at the clock.
  static void count_look();
  static uint64_t looks() { return looks_.load(); }

 private:
  // Relaxed: set before other threads start.
  static constinit inline std::atomic<bool> is_stopped_{false};
  // Sequentially consistent: a look that was counted after an advance has seen it.
  static constinit inline std::atomic<uint64_t> stopped_at_ns_{0};
  static constinit inline std::atomic<uint64_t> looks_{0};
};

}  // namespace zevent::driver
