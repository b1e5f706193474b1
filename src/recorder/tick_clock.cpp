#include "recorder/tick_clock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace zevent::recorder {
namespace {

bool processor_counter_is_invariant() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
#else
  return false;
#endif
}

// The kernel watches the counters of all processors and takes "tsc" off this list once they
// disagree.
bool kernel_trusts_processor_counter() {
  const int file = open("/sys/devices/system/clocksource/clocksource0/available_clocksource",
                        O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[256];
  const ssize_t bytes = read(file, text, sizeof(text));
  close(file);
  if (bytes <= 0) return false;
  std::string_view names(text, static_cast<size_t>(bytes));
  while (!names.empty()) {
    const size_t end = std::min(names.find_first_of(" \n"), names.size());
    if (names.substr(0, end) == "tsc") return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

uint64_t realtime_ns() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

constexpr int calibration_attempts = 5;
constexpr uint64_t least_measured_ns = 100'000;

}  // namespace

recording::clock_kind process_clock =
    processor_counter_is_invariant() && kernel_trusts_processor_counter()
        ? recording::clock_kind::processor_counter
        : recording::clock_kind::monotonic_raw_clock;

static const clock_calibration calibration_at_load = calibrate_clock();

constinit std::atomic<uint64_t> detail::step_ns{0};
// Relaxed: only counted.
static constinit std::atomic<uint64_t> stepped_ns{0};

void advance_clocks_by_looks(uint64_t step_ns) {
  stepped_ns = monotonic_raw_ns();
  process_clock = recording::clock_kind::monotonic_raw_clock;
  detail::step_ns = step_ns;
}

uint64_t detail::next_step() {
  const uint64_t step = step_ns.load(std::memory_order_relaxed);
  return stepped_ns.fetch_add(step, std::memory_order_relaxed) + step;
}

clock_calibration calibrate_clock() {
  clock_calibration best;
  best.uncertainty_ticks = UINT64_MAX;
  for (int attempt = 0; attempt < calibration_attempts; ++attempt) {
    const uint64_t before = ticks();
    const uint64_t raw = monotonic_raw_ns();
    const uint64_t after = ticks();
    const uint64_t real = realtime_ns();
    if (after - before < best.uncertainty_ticks)
      best = {before + (after - before) / 2, raw, real, after - before};
  }
  return best;
}

uint64_t estimate_ticks_per_second() {
  if (process_clock == recording::clock_kind::monotonic_raw_clock) return 1'000'000'000u;
  clock_calibration now = calibrate_clock();
  while (now.monotonic_raw_ns - calibration_at_load.monotonic_raw_ns < least_measured_ns)
    now = calibrate_clock();
  const double elapsed_ns =
      static_cast<double>(now.monotonic_raw_ns - calibration_at_load.monotonic_raw_ns);
  const double elapsed_ticks = static_cast<double>(now.ticks - calibration_at_load.ticks);
  return static_cast<uint64_t>(elapsed_ticks / elapsed_ns * 1e9);
}

}  // namespace zevent::recorder
