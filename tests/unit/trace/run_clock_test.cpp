#include "trace/run_clock.hpp"

#include <gtest/gtest.h>

#include <random>

#include "recording_builder.hpp"

namespace zevent::trace {
namespace {

constexpr uint64_t second_ns = 1'000'000'000;

TEST(tick_line, one_calibration_and_the_estimated_rate) {
  const tick_line line({{{}, 5000, 100, 1'000'000, 0}}, 0, 2 * second_ns);
  EXPECT_EQ(line.to_ns(5000), 1'000'000u);
  EXPECT_EQ(line.to_ns(5200), 1'000'100u);
  EXPECT_EQ(line.to_ns(4800), 999'900u);
}

TEST(tick_line, interpolates_between_calibrations_and_goes_on_outside_of_them) {
  // 2 ticks a ns in the first second, 4 in the second.
  const tick_line line({{{}, 0, 0, 0, 0},
                        {{}, 2 * second_ns, second_ns, second_ns, 0},
                        {{}, 6 * second_ns, 2 * second_ns, 2 * second_ns, 0}},
                       0, second_ns);
  EXPECT_EQ(line.to_ns(second_ns), second_ns / 2);
  EXPECT_EQ(line.to_ns(4 * second_ns), second_ns + second_ns / 2);
  EXPECT_EQ(line.to_ns(10 * second_ns), 3 * second_ns);
}

TEST(tick_line, calibrations_too_close_to_each_other_do_not_bend_the_line) {
  const tick_line line({{{}, 0, 0, 0, 0}, {{}, 1000, 1400, 1400, 0}}, 0, second_ns);
  EXPECT_EQ(line.to_ns(1'000'000), 1'000'000u);
}

TEST(tick_line, time_never_goes_backwards_whatever_the_calibrations_say) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<recording::calibration_record> points(random() % 6);
    for (auto& each : points)
      each = {{}, random() >> (random() % 64), random() >> (random() % 64), random() >> 2, 0};
    const tick_line line(points, random(), random() >> (random() % 64));
    std::vector<uint64_t> ticks(50);
    for (auto& each : ticks) each = random() >> (random() % 64);
    std::sort(ticks.begin(), ticks.end());
    uint64_t last = 0;
    for (const uint64_t each : ticks) {
      const uint64_t now = line.to_ns(each);
      ASSERT_GE(now + 10'000, last) << "round " << round;
      ASSERT_LE(now, uint64_t{1} << 63);
      last = now;
    }
  }
}

TEST(run_clock, processes_of_one_host_share_a_clock_and_hosts_meet_at_the_time_of_day) {
  std::vector<recording_part> parts;
  const auto add = [&](const char* host, uint64_t ticks, uint64_t monotonic, uint64_t realtime) {
    recording_builder file;
    std::strcpy(file.header().host, host);
    file.segment();
    file.thread(0, 0);
    if (ticks != 0) file.calibration(ticks, monotonic, realtime);
    parts.push_back(*recording_part::parse(own_bytes(file.bytes()), host));
  };
  add("one", 1000, 1000, 70'000);
  add("one", 0, 0, 0);
  add("two", 500, 500, 70'000);
  const recording_part* const pointers[] = {&parts[0], &parts[1], &parts[2]};
  const run_clock clock(pointers);
  EXPECT_EQ(clock.line_of(0).to_ns(1005), 70'005u);
  EXPECT_EQ(clock.line_of(1).to_ns(1005), 70'005u);
  EXPECT_EQ(clock.line_of(2).to_ns(505), 70'005u);
}

}  // namespace
}  // namespace zevent::trace
