#include "base/faults.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace zevent {
namespace {

TEST(faults, table_is_sorted_and_its_positions_are_the_ids) {
  const auto all = fault_descriptions();
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(all[i].id), i) << all[i].name;
    EXPECT_FALSE(all[i].effect.empty()) << all[i].name;
    EXPECT_FALSE(all[i].story.empty()) << all[i].name;
    if (i > 0) {
      EXPECT_LT(all[i - 1].name, all[i].name);
    }
  }
}

TEST(faults, empty_text_switches_nothing_on) {
  const auto set = parse_faults("");
  ASSERT_TRUE(set);
  EXPECT_TRUE(set->empty());
}

TEST(faults, several_are_read_with_and_without_numbers) {
  const auto set = parse_faults("slow-engine:4,device-lost:after=7,query-blocks-behind-barrier");
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(set->number(fault::slow_engine), 4u);
  EXPECT_EQ(set->number(fault::device_lost), 7u);
  EXPECT_TRUE(set->has(fault::query_blocks_behind_barrier));
  EXPECT_FALSE(set->has(fault::query_slow));
}

TEST(faults, number_left_out_is_the_default) {
  const auto set = parse_faults("query-slow");
  ASSERT_TRUE(set);
  EXPECT_EQ(set->number(fault::query_slow), 400u);
}

TEST(faults, unknown_name_is_an_error_that_lists_the_names) {
  const auto set = parse_faults("query-slwo");
  ASSERT_FALSE(set);
  for (const auto& each : fault_descriptions())
    EXPECT_NE(set.error().message.find(each.name), std::string::npos) << each.name;
}

TEST(faults, bad_number_is_an_error_that_says_the_range) {
  for (const char* bad : {"slow-engine:", "slow-engine:1", "slow-engine:x", "slow-engine:by=2",
                          "query-blocks-while-busy:1", "device-lost:-1", ",", "slow-engine:4,,"})
    EXPECT_FALSE(parse_faults(bad)) << bad;
}

TEST(faults, documentation_is_what_the_table_says) {
  std::ifstream file(ZEVENT_SOURCE_DIR "/docs/faults.md");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), faults_as_markdown())
      << "write it again: build/bin/zevent run --list-faults=markdown > docs/faults.md";
}

}  // namespace
}  // namespace zevent
