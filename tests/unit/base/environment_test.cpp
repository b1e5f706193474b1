#include "base/environment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace zevent {
namespace {

TEST(environment, variables_are_declared_in_order_and_explained) {
  const auto variables = environment_variables();
  ASSERT_FALSE(variables.empty());
  EXPECT_TRUE(std::is_sorted(variables.begin(), variables.end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));
  for (const auto& variable : variables) {
    EXPECT_TRUE(variable.name.starts_with("ZEVENT_")) << variable.name;
    EXPECT_FALSE(variable.meaning.empty()) << variable.name;
    EXPECT_FALSE(variable.values.empty()) << variable.name;
  }
}

TEST(environment, empty_value_counts_as_unset) {
  setenv("ZEVENT_DEVICES", "", 1);
  EXPECT_EQ(read_environment("ZEVENT_DEVICES"), std::nullopt);
  EXPECT_EQ(read_environment_number("ZEVENT_DEVICES", 3, 1, 16), 3u);
}

TEST(environment, number_out_of_range_or_not_a_number_falls_back_to_the_default) {
  for (const char* bad : {"0", "17", "two", "2x", "-1", "99999999999999999999"}) {
    setenv("ZEVENT_DEVICES", bad, 1);
    EXPECT_EQ(read_environment_number("ZEVENT_DEVICES", 1, 1, 16), 1u) << bad;
  }
  setenv("ZEVENT_DEVICES", "16", 1);
  EXPECT_EQ(read_environment_number("ZEVENT_DEVICES", 1, 1, 16), 16u);
}

TEST(environment_death, undeclared_name_is_a_broken_invariant) {
  EXPECT_DEATH(read_environment("ZEVENT_NO_SUCH_VARIABLE"), "broken invariant");
}

}  // namespace
}  // namespace zevent
