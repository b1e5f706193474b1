#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "api/recording_format.hpp"

namespace zevent::recorder {

// Which clock ticks() reads, decided once when the library is loaded: the processor's time stamp
// counter where it runs at one rate on all processors and in all states, else the kernel's clock.
extern recording::clock_kind process_clock;

// For tests, in a process of their own: from now on time passes by looking at it, and each look at
// either clock is so much later than the one before. So costs and shares of time are counts.
void advance_clocks_by_looks(uint64_t step_ns);

namespace detail {
// Relaxed: set before other threads look at the clock.
extern constinit std::atomic<uint64_t> step_ns;
uint64_t next_step();
}  // namespace detail

inline uint64_t monotonic_raw_ns() {
  if (detail::step_ns.load(std::memory_order_relaxed) != 0) [[unlikely]]
    return detail::next_step();
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

// Never 0. Not a fence: a neighbouring load may move across it by some nanoseconds.
inline uint64_t ticks() {
#if defined(__x86_64__)
  if (process_clock == recording::clock_kind::processor_counter) [[likely]]
    return __rdtsc();
#endif
  return monotonic_raw_ns();
}

// One point of the line from ticks to the kernel's clocks.
struct clock_calibration {
  uint64_t ticks = 0;
  uint64_t monotonic_raw_ns = 0;
  uint64_t realtime_ns = 0;
  uint64_t uncertainty_ticks = 0;  // the clocks were read within so many ticks
};

clock_calibration calibrate_clock();

// Measured from the load of the library until now: the longer that is, the better it is.
uint64_t estimate_ticks_per_second();

}  // namespace zevent::recorder
