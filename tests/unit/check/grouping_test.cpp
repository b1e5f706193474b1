#include "check/grouping.hpp"

#include "checked_program.hpp"

namespace zevent::check {
namespace {

finding made(uint64_t call, std::string message, std::vector<uint64_t> calls, unsigned rule = 25,
             std::string cause = "") {
  finding out;
  out.rule = ev(rule);
  out.level = find_rule(out.rule)->level;
  out.call = call_number{call};
  out.message = std::move(message);
  for (const uint64_t each : calls) out.calls.push_back({call_number{each}, "is involved"});
  out.kind = "race";
  out.cause = std::move(cause);
  return out;
}

TEST(grouped_findings, of_iterations_of_a_loop_are_one) {
  std::vector<finding> findings;
  for (uint64_t i = 0; i < 24; ++i) {
    const uint64_t first = 10 + 7 * i;
    findings.push_back(
        made(first + 2, fmt::format("#{} and #{} race", first, first + 2), {first, first + 2}));
  }
  group_findings(findings);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].call, call_number{12});
  EXPECT_EQ(findings[0].more, 23u);
  EXPECT_EQ(findings[0].more_calls.front(), call_number{19});
}

TEST(grouped_findings, of_one_object_are_one_wherever_the_calls_are) {
  std::vector<finding> findings{made(20, "event_3 is reset too early", {5, 20}),
                                made(40, "event_3 is reset too early", {39, 40})};
  group_findings(findings);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].more, 1u);
}

TEST(grouped_findings, of_other_objects_at_other_distances_stay_apart) {
  std::vector<finding> findings{made(20, "event_3 is reset too early", {5, 20}),
                                made(40, "event_4 is reset too early", {39, 40})};
  group_findings(findings);
  EXPECT_EQ(findings.size(), 2u);
}

TEST(grouped_findings, of_another_rule_stay_apart_without_a_common_cause) {
  std::vector<finding> findings{made(20, "event_3", {20}, 7), made(20, "event_3", {20}, 25)};
  group_findings(findings);
  EXPECT_EQ(findings.size(), 2u);
}

TEST(grouped_findings, of_one_cause_are_one_and_the_worst_comes_first) {
  const std::string cause = "the host does not wait for command_list_0";
  // EV-72 is about performance, the others are errors.
  std::vector<finding> findings{
      made(10, "polls", {10}, 72, cause), made(20, "event_3 is destroyed", {5, 20}, 7, cause),
      made(21, "event_4 is destroyed", {6, 21}, 7, cause),
      made(30, "memory_0 is freed", {5, 30}, 44, cause), made(31, "something else", {31}, 44)};
  group_findings(findings);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].rule, ev(7));
  EXPECT_EQ(findings[0].call, call_number{20});
  EXPECT_EQ(findings[0].more, 1u) << "the same rule in the same words";
  ASSERT_EQ(findings[0].consequences.size(), 2u);
  EXPECT_EQ(findings[0].consequences[0].rule, ev(72));
  EXPECT_EQ(findings[0].consequences[1].rule, ev(44));
  EXPECT_EQ(findings[1].call, call_number{31});
}

TEST(grouped_findings, of_two_processes_stay_apart) {
  std::vector<finding> findings{made(20, "memory_0", {20}, 44, "no wait"),
                                made(21, "memory_0", {21}, 44, "no wait")};
  findings[1].process = 1;
  group_findings(findings);
  EXPECT_EQ(findings.size(), 2u);
}

class one_missing_wait : public checked_program {};

// Twelve steps on an in-order list that nobody waits for, then everything is given back.
TEST_F(one_missing_wait, is_one_finding) {
  const auto list = program.in_order_immediate_list(context, device);
  std::vector<handle> events, memory;
  for (uint32_t i = 0; i < 12; ++i) {
    events.push_back(program.event(pool, i));
    memory.push_back(program.memory(context, device, 4096));
    program.copy(list, memory.back(), a, 4096, {.signal = events.back()});
  }
  for (const auto each : memory) program.free(context, each);
  for (const auto each : events)
    program.call(model::function::zeEventDestroy, {{model::argument::hEvent, each}});
  program.call(model::function::zeCommandListDestroy, {{model::argument::hCommandList, list}});
  EXPECT_EQ(broken(), "EV-7 EV-36 EV-44");
  const size_t all = findings.size();
  EXPECT_EQ(all, 25u);
  std::erase_if(findings, [](const auto& each) { return each.level == severity::note; });
  group_findings(findings);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, ev(44)) << "what came first";
  uint64_t counted = 1 + findings[0].more;
  for (const auto& each : findings[0].consequences) counted += each.count;
  EXPECT_EQ(counted, all);
}

// Work on one list that another one is not ordered after, in a loop.
TEST_F(one_missing_wait, between_two_lists_is_one_finding) {
  const auto one = program.in_order_immediate_list(context, device);
  const auto other = program.in_order_immediate_list(context, device);
  for (int i = 0; i < 12; ++i) {
    program.copy(one, a, b, 4096);
    program.copy(other, c, a, 4096);
  }
  EXPECT_EQ(broken(), "EV-25");
  EXPECT_GT(findings.size(), 12u);
  std::erase_if(findings, [](const auto& each) { return each.rule != ev(25); });
  group_findings(findings);
  EXPECT_LE(findings.size(), 2u) << "the data, and its memory that is written again";
}

}  // namespace
}  // namespace zevent::check
