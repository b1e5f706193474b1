#include "check/selection.hpp"

#include <gtest/gtest.h>

namespace zevent::check {
namespace {

finding some_finding(unsigned number, std::string message = "event_3 is destroyed.") {
  finding made;
  made.rule = ev(number);
  made.level = find_rule(made.rule)->level;
  made.message = std::move(message);
  return made;
}

TEST(selection, notes_are_shown_only_when_asked_for) {
  selection wanted;
  EXPECT_FALSE(selects(wanted, some_finding(31), "f"));
  wanted.least = severity::note;
  EXPECT_TRUE(selects(wanted, some_finding(31), "f"));
  wanted.least = severity::error;
  EXPECT_FALSE(selects(wanted, some_finding(70), "f"));
}

TEST(selection, suppressions_name_a_rule_and_perhaps_a_function_or_an_object) {
  const auto parsed = parse_suppressions(
      "# known\n"
      "EV-7 event_3\n"
      "\n"
      "EV-36 zeCommandList*  # the driver waits by itself\n"
      "EV-70\n",
      "known.txt");
  ASSERT_TRUE(parsed) << parsed.error().message;
  selection wanted;
  wanted.suppressions = *parsed;
  EXPECT_FALSE(selects(wanted, some_finding(7), "zeEventDestroy"));
  EXPECT_TRUE(selects(wanted, some_finding(7, "event_33 is destroyed."), "zeEventDestroy"));
  EXPECT_FALSE(selects(wanted, some_finding(36, ""), "zeCommandListReset"));
  EXPECT_TRUE(selects(wanted, some_finding(36, ""), "zeCommandQueueExecuteCommandLists"));
  EXPECT_FALSE(selects(wanted, some_finding(70, ""), "zeEventQueryStatus"));
  EXPECT_TRUE(selects(wanted, some_finding(8), "zeEventDestroy"));
}

TEST(selection, leaves_a_few_of_each_kind_and_counts_the_rest) {
  std::vector<finding> findings;
  for (int i = 0; i < 5; ++i) findings.push_back(some_finding(7));
  findings.back().more = 10;
  findings.push_back(some_finding(8));
  keep_few_of_a_kind(findings, 2);
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_EQ(findings[1].more, 3u + 10u);
  EXPECT_EQ(findings[2].rule, ev(8));
}

TEST(selection, a_line_that_is_no_suppression_is_refused_with_its_number) {
  EXPECT_EQ(parse_suppressions("EV-7\nEV-700\n", "f").error().message.substr(0, 4), "f:2:");
  EXPECT_EQ(parse_suppressions("EV-7 a b\n", "f").error().message.substr(0, 4), "f:1:");
}

}  // namespace
}  // namespace zevent::check
