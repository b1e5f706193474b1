#include <gtest/gtest.h>

#include "recorder/profile_mode.hpp"

namespace zevent::recorder {
namespace {

TEST(KernelPattern, MatchesNames) {
  EXPECT_TRUE(matches_pattern("vector_add", "vector_add"));
  EXPECT_FALSE(matches_pattern("vector_add", "vector_adds"));
  EXPECT_TRUE(matches_pattern("vec*", "vector_add"));
  EXPECT_TRUE(matches_pattern("*add", "vector_add"));
  EXPECT_TRUE(matches_pattern("*_*", "vector_add"));
  EXPECT_TRUE(matches_pattern("v?ctor*", "vector"));
  EXPECT_TRUE(matches_pattern("*", ""));
  EXPECT_FALSE(matches_pattern("?", ""));
  EXPECT_FALSE(matches_pattern("*x*", "vector_add"));
  EXPECT_TRUE(matches_pattern("a*b*c", "aXbXbXc"));
  EXPECT_FALSE(matches_pattern("a*b*c", "aXbXbX"));
}

}  // namespace
}  // namespace zevent::recorder
