#include "base/checked_cast.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace zevent {
namespace {

TEST(checked_cast, keeps_values_that_fit) {
  EXPECT_EQ(checked_cast<uint8_t>(255), 255);
  EXPECT_EQ(checked_cast<int32_t>(uint64_t{7}), 7);
}

TEST(checked_cast_death, value_that_does_not_fit_is_a_broken_invariant) {
  EXPECT_DEATH(checked_cast<uint8_t>(256), "broken invariant");
  EXPECT_DEATH(checked_cast<uint32_t>(-1), "broken invariant");
}

}  // namespace
}  // namespace zevent
