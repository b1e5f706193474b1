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
  EXPECT_FALSE(selects(wanted, some_finding(31), {}));
  wanted.least = severity::note;
  EXPECT_TRUE(selects(wanted, some_finding(31), {}));
  wanted.least = severity::error;
  EXPECT_FALSE(selects(wanted, some_finding(70), {}));
}

selection known(std::string_view text) {
  const auto parsed = parse_suppressions(text, "known.txt");
  EXPECT_TRUE(parsed) << parsed.error().message;
  selection wanted;
  wanted.suppressions = parsed.value_or(std::vector<suppression>{});
  return wanted;
}

TEST(selection, suppressions_name_a_rule_and_perhaps_a_function_or_an_object) {
  const auto wanted = known(
      "# known\n"
      "EV-7 event_3\n"
      "\n"
      "EV-36 zeCommandList*  # the driver waits by itself\n"
      "EV-70\n");
  const finding_subjects destroy{"zeEventDestroy", {}, {}};
  EXPECT_FALSE(selects(wanted, some_finding(7), destroy));
  EXPECT_TRUE(selects(wanted, some_finding(7, "event_33 is destroyed."), destroy));
  EXPECT_FALSE(selects(wanted, some_finding(36, ""), {"zeCommandListReset", {}, {}}));
  EXPECT_TRUE(selects(wanted, some_finding(36, ""), {"zeCommandQueueExecuteCommandLists", {}, {}}));
  EXPECT_FALSE(selects(wanted, some_finding(70, ""), {"zeEventQueryStatus", {}, {}}));
  EXPECT_TRUE(selects(wanted, some_finding(8), destroy));
}

TEST(selection, an_object_may_be_named_by_any_part_of_the_finding) {
  const auto wanted = known("EV-25 memory_3\n");
  const auto plain = some_finding(25, "#5 and #6 use the same memory.");
  EXPECT_TRUE(selects(wanted, plain, {}));
  EXPECT_FALSE(selects(wanted, plain, {{}, {"memory_3"}, {}}));
  EXPECT_TRUE(selects(wanted, plain, {{}, {"memory_33", "event_3"}, {}}));
  auto role = plain;
  role.calls.push_back({call_number{5}, "writes memory_3+0x40 to memory_3+0x80"});
  EXPECT_FALSE(selects(wanted, role, {}));
  role.calls = {{call_number{5}, "writes memory_0 from byte 0 to 8"}};
  EXPECT_TRUE(selects(wanted, role, {{}, {"memory_0", "memory_3"}, {}})) << "a bystander";
  auto step = plain;
  step.steps.emplace_back("memory_3 is read by #6.");
  EXPECT_FALSE(selects(wanted, step, {}));
}

TEST(selection, kernels_are_named_as_the_program_names_them) {
  const auto wanted = known("EV-75 reverse_*\n");
  EXPECT_FALSE(selects(wanted, some_finding(75, ""), {{}, {"kernel_1"}, {"reverse_add"}}));
  EXPECT_TRUE(selects(wanted, some_finding(75, ""), {{}, {"kernel_1"}, {"add"}}));
}

TEST(selection, a_word_of_the_message_is_no_object) {
  EXPECT_TRUE(selects(known("EV-7 is\n"), some_finding(7), {}));
  EXPECT_TRUE(selects(known("EV-7 dest*\n"), some_finding(7), {}));
  std::set<std::string> names;
  add_object_names(
      " 6 T1  0.006 17.4 us  zeCommandListAppendMemoryCopy(hCommandList=command_list_0, "
      "dstptr=memory_3+0x40, size=65536, phWaitEvents=[event_1, event_2]) → SUCCESS",
      names);
  EXPECT_EQ(names, (std::set<std::string>{"command_list_0", "event_1", "event_2", "memory_3"}));
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
