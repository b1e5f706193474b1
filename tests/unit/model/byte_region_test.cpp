#include "model/byte_region.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace zevent::model {
namespace {

std::set<uint64_t> bytes_of(const byte_region& region) {
  std::set<uint64_t> bytes;
  for (uint64_t slice = 0; slice < region.slices; ++slice) {
    for (uint64_t row = 0; row < region.rows; ++row) {
      for (uint64_t i = 0; i < region.row_bytes; ++i)
        bytes.insert(region.first + slice * region.slice_pitch + row * region.row_pitch + i);
    }
  }
  return bytes;
}

TEST(byte_region, rows_that_touch_become_one) {
  const auto whole = simplified({0x1000, 64, 4, 64, 2, 256});
  EXPECT_TRUE(whole.contiguous());
  EXPECT_EQ(whole.row_bytes, 512u);
}

TEST(byte_region, columns_of_one_matrix_do_not_overlap) {
  const byte_region left{0x1000, 16, 100, 64};
  const byte_region right{0x1010, 16, 100, 64};
  EXPECT_FALSE(overlap(left, right));
  EXPECT_TRUE(overlap(left, {0x1000 + 99 * 64, 1}));
  EXPECT_FALSE(overlap(left, {0x1000 + 99 * 64 + 16, 48}));
}

TEST(byte_region, says_which_bytes_are_common) {
  EXPECT_EQ(overlap({100, 50}, {120, 100}), (byte_range{120, 30}));
}

TEST(byte_region, nonsense_from_a_file_does_no_harm) {
  const byte_region huge{UINT64_MAX - 5, UINT64_MAX, UINT64_MAX,
                         UINT64_MAX,     UINT64_MAX, UINT64_MAX};
  EXPECT_EQ(simplified(huge).end(), UINT64_MAX);
  EXPECT_TRUE(overlap(simplified(huge), {UINT64_MAX - 3, 2}));
  EXPECT_FALSE(overlap({5, 0}, {0, 100}));
}

TEST(byte_region, agrees_with_a_byte_by_byte_comparison) {
  std::mt19937 random(7);
  const auto below = [&](uint64_t bound) { return random() % bound; };
  for (int round = 0; round < 20000; ++round) {
    const auto make = [&] {
      return byte_region{1000 + below(200), below(12),    below(5),
                         below(40),         1 + below(3), below(150)};
    };
    const auto a = make(), b = make();
    const auto bytes_a = bytes_of(a), bytes_b = bytes_of(b);
    bool common = false;
    for (const auto byte : bytes_a) common = common || bytes_b.contains(byte);
    const auto simple_a = simplified(a), simple_b = simplified(b);
    ASSERT_EQ(bytes_of(simple_a), bytes_a) << "round " << round;
    const auto found = overlap(simple_a, simple_b);
    ASSERT_EQ(found.has_value(), common) << "round " << round;
    if (found) {
      for (uint64_t i = 0; i < found->bytes; ++i) {
        ASSERT_TRUE(bytes_a.contains(found->first + i)) << "round " << round;
        ASSERT_TRUE(bytes_b.contains(found->first + i)) << "round " << round;
      }
    }
  }
}

}  // namespace
}  // namespace zevent::model
