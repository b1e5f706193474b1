// Device timestamps on the host's axis, against a clock that is known.

#include "trace/device_line.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace zevent::trace {
namespace {

constexpr uint64_t base_ns = 1'000'000'000'000;

// One tick is one nanosecond, and the axis starts where ticks do.
tick_line host_line() {
  recording::calibration_record first{}, second{};
  first.ticks = base_ns;
  first.monotonic_raw_ns = first.realtime_ns = base_ns;
  second.ticks = base_ns + 1'000'000'000'000;
  second.monotonic_raw_ns = second.realtime_ns = base_ns + 1'000'000'000'000;
  return tick_line({first, second}, base_ns, 1'000'000'000);
}

struct device_model {
  double per_ns;  // what it says
  double drift;   // how much faster it really is
  uint64_t offset;
  uint32_t bits, kernel_bits;

  uint64_t at(uint64_t ns) const {
    return offset + static_cast<uint64_t>(static_cast<double>(ns - base_ns) * per_ns * drift);
  }
  static uint64_t cut(uint64_t value, uint32_t to_bits) {
    return to_bits >= 64 ? value : value & ((uint64_t{1} << to_bits) - 1);
  }
  recording::device_clock_record compare(uint64_t ns) const {
    recording::device_clock_record record{};
    record.ticks = ns;
    record.timestamp = cut(at(ns), bits);
    record.timestamps_per_second = static_cast<uint64_t>(per_ns * 1e9);
    record.valid_bits = bits;
    record.kernel_valid_bits = kernel_bits;
    return record;
  }
};

TEST(DeviceLine, FindsTimesAgainWhateverWraps) {
  std::mt19937_64 random(7);
  const auto between = [&](uint64_t low, uint64_t high) {
    return std::uniform_int_distribution<uint64_t>(low, high)(random);
  };
  for (int round = 0; round < 200; ++round) {
    device_model device{};
    device.per_ns = std::pow(10.0, -static_cast<double>(between(0, 2)));  // 1 GHz to 10 MHz
    device.drift = 1 + (static_cast<double>(between(0, 200)) - 100) / 1e6;
    device.offset = random();
    device.bits = static_cast<uint32_t>(between(32, 64));
    device.kernel_bits = static_cast<uint32_t>(between(28, device.bits));
    std::vector<recording::device_clock_record> comparisons;
    for (uint64_t ns = 0; ns < 10'000'000'000; ns += 500'000'000)
      comparisons.push_back(device.compare(base_ns + ns));
    const device_line line(comparisons, host_line());
    ASSERT_TRUE(line.is_usable());

    // Known to have run within less than the shortest time in which it could wrap.
    const double period_ns = std::pow(2.0, device.kernel_bits) / device.per_ns;
    const auto window = static_cast<uint64_t>(std::min(period_ns * 0.6, 3e9));
    for (int i = 0; i < 50; ++i) {
      const uint64_t start_ns = base_ns + between(0, 9'000'000'000);
      const uint64_t end_ns = start_ns + between(1, window / 4);
      const auto found =
          line.to_ns(device_model::cut(device.at(start_ns), device.kernel_bits),
                     device_model::cut(device.at(end_ns), device.kernel_bits),
                     start_ns - between(0, window / 4), end_ns + between(0, window / 4));
      const double error_ns = 2 / device.per_ns + 100;
      EXPECT_NEAR(static_cast<double>(found.start_ns - base_ns),
                  static_cast<double>(start_ns - base_ns), error_ns);
      EXPECT_NEAR(static_cast<double>(found.end_ns - base_ns),
                  static_cast<double>(end_ns - base_ns), error_ns);
    }
  }
}

TEST(DeviceLine, TakesOneComparisonAndTheRateThatTheDeviceSays) {
  const device_model device{0.0125, 1, 42, 36, 32};
  const recording::device_clock_record only[] = {device.compare(base_ns)};
  const device_line line(only, host_line());
  const auto found = line.to_ns(device.at(base_ns + 1'000'000), device.at(base_ns + 3'000'000),
                                base_ns, base_ns + 4'000'000);
  EXPECT_NEAR(static_cast<double>(found.end_ns - found.start_ns), 2e6, 200);
}

TEST(DeviceLine, SurvivesAnyBytes) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 2000; ++round) {
    std::vector<recording::device_clock_record> comparisons(random() % 4);
    for (auto& each : comparisons)
      each = {{},
              random() >> random() % 64,
              random(),
              random(),
              random() >> random() % 64,
              static_cast<uint32_t>(random()),
              static_cast<uint32_t>(random() % 80)};
    const device_line line(comparisons, host_line());
    const auto found = line.to_ns(random(), random(), random(), random());
    EXPECT_LE(found.start_ns, found.end_ns);
  }
}

}  // namespace
}  // namespace zevent::trace
