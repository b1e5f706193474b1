#pragma once

#include <cstdint>
#include <ctime>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace zevent::replay {

inline uint64_t clock_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

// Times calls by the processor's counter where it runs at one rate, which costs a third of what the
// kernel's clock does.
class call_clock {
 public:
  call_clock() : first_ticks_(ticks()), first_ns_(clock_ns()) {}

  static uint64_t ticks() {
#if defined(__x86_64__)
    if (counter_is_steady()) [[likely]]
      return __rdtsc();
#endif
    return clock_ns();
  }

  // The longer ago the clock was made, the better; it takes some milliseconds to be any good.
  double ns_per_tick() const {
    const uint64_t ticks_passed = ticks() - first_ticks_;
    const uint64_t ns_passed = clock_ns() - first_ns_;
    return ticks_passed == 0 ? 1.0
                             : static_cast<double>(ns_passed) / static_cast<double>(ticks_passed);
  }

 private:
  static bool counter_is_steady() {
#if defined(__x86_64__)
    static const bool steady = [] {
      unsigned a = 0, b = 0, c = 0, d = 0;
      return __get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
    }();
    return steady;
#else
    return false;
#endif
  }

  uint64_t first_ticks_, first_ns_;
};

}  // namespace zevent::replay
