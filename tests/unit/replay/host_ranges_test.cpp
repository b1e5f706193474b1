#include "replay/host_ranges.hpp"

#include <gtest/gtest.h>

#include <random>

namespace zevent::replay {
namespace {

TEST(HostRanges, BeginAndEndOnPages) {
  host_ranges ranges(4096);
  ranges.add(0x12345, 10);
  ranges.settle();
  ASSERT_EQ(ranges.all().size(), 1u);
  EXPECT_EQ(ranges.all()[0].first, 0x12000u);
  EXPECT_EQ(ranges.all()[0].bytes, 4096u);
  EXPECT_EQ(ranges.find(0x12345)->offset, 0x345u);
  EXPECT_FALSE(ranges.find(0x13000));
  EXPECT_FALSE(ranges.find(0x11fff));
}

TEST(HostRanges, JoinWhatOverlapsAndNothingElse) {
  host_ranges ranges(1);
  ranges.add(100, 10);
  ranges.add(110, 10);
  ranges.add(105, 3);
  ranges.add(200, 10);
  ranges.add(195, 10);
  ranges.settle();
  ASSERT_EQ(ranges.all().size(), 3u);
  EXPECT_EQ(ranges.find(109)->range, 0u);
  EXPECT_EQ(ranges.find(110)->range, 1u);
  EXPECT_EQ(ranges.find(209)->offset, 14u);
}

TEST(HostRanges, SurviveAddressesAtTheEndOfTheWorld) {
  host_ranges ranges(4096);
  ranges.add(UINT64_MAX, UINT64_MAX);
  ranges.add(UINT64_MAX - 10000, UINT64_MAX);
  ranges.add(0, 0);
  ranges.settle();
  EXPECT_TRUE(ranges.find(0));
}

TEST(HostRangesProperty, EveryAddedByteIsFoundOnceAndInOrder) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    host_ranges ranges(round % 2 == 0 ? 1 : 16);
    std::vector<std::pair<uint64_t, uint64_t>> added;
    for (int i = 0; i < 20; ++i) {
      added.emplace_back(random() % 1000, 1 + random() % 60);
      ranges.add(added.back().first, added.back().second);
    }
    ranges.settle();
    for (const auto& [first, bytes] : added) {
      const auto begin = ranges.find(first), end = ranges.find(first + bytes - 1);
      ASSERT_TRUE(begin && end);
      EXPECT_EQ(begin->range, end->range) << "what was contiguous stays so";
      EXPECT_EQ(end->offset - begin->offset, bytes - 1);
    }
    for (size_t i = 1; i < ranges.all().size(); ++i)
      EXPECT_LE(ranges.all()[i - 1].first + ranges.all()[i - 1].bytes, ranges.all()[i].first);
  }
}

}  // namespace
}  // namespace zevent::replay
