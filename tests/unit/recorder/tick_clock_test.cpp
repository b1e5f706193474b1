#include "recorder/tick_clock.hpp"

#include <gtest/gtest.h>

namespace zevent::recorder {
namespace {

TEST(TickClock, GoesForwardAndIsNeverZero) {
  uint64_t before = ticks();
  EXPECT_NE(before, 0u);
  for (int i = 0; i < 1000; ++i) {
    const uint64_t now = ticks();
    ASSERT_GE(now, before);
    before = now;
  }
}

TEST(TickClock, CalibrationLiesBetweenTheTicksAroundIt) {
  const uint64_t before = ticks();
  const auto point = calibrate_clock();
  const uint64_t after = ticks();
  EXPECT_GE(point.ticks, before);
  EXPECT_LE(point.ticks, after);
  EXPECT_GT(point.monotonic_raw_ns, 0u);
  EXPECT_GT(point.realtime_ns, 0u);
}

TEST(TickClock, EstimatedRateAgreesWithTwoCalibrations) {
  const auto first = calibrate_clock();
  auto second = first;
  while (second.monotonic_raw_ns < first.monotonic_raw_ns + 20'000'000) second = calibrate_clock();
  const double measured = static_cast<double>(second.ticks - first.ticks) /
                          static_cast<double>(second.monotonic_raw_ns - first.monotonic_raw_ns);
  const double estimated = static_cast<double>(estimate_ticks_per_second()) / 1e9;
  EXPECT_NEAR(estimated / measured, 1.0, 0.01);
}

}  // namespace
}  // namespace zevent::recorder
