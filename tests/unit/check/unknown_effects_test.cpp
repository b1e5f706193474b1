#include "check/unknown_effects.hpp"

#include <gtest/gtest.h>

#include "check/checker.hpp"
#include "checked_program.hpp"

namespace zevent::check {
namespace {

bool silences(std::string_view function, unsigned rule) {
  return (state_changed_by(function) & state_needed_by(ev(rule))) != 0;
}

TEST(unknown_effects, follow_from_the_name_of_a_function) {
  EXPECT_TRUE(silences("zeGraphSuspendFuture", 66));
  EXPECT_TRUE(silences("zexCommandListAppendFuture", 12));
  EXPECT_FALSE(silences("zexCommandListAppendFuture", 66));
  EXPECT_TRUE(silences("zexMemAllocFuture", 73));
  EXPECT_FALSE(silences("zexMemAllocFuture", 66));
  EXPECT_FALSE(silences("zeGraphGetFuture", 66)) << "a question";
  EXPECT_EQ(state_changed_by("zetMetricGraphFuture"), 0u) << "nothing of the core";
  EXPECT_EQ(state_changed_by("zexDriverFuture"), 0u);
}

TEST(unknown_effects, follow_from_the_table_where_a_function_has_no_name) {
  EXPECT_TRUE(silences("slot 12 of ze_command_list_dditable_t", 66));
  EXPECT_TRUE(silences("slot 3 of ze_graph_exp_dditable_t", 67));
  EXPECT_TRUE(silences("slot 30 of ze_event_dditable_t", 12));
  EXPECT_FALSE(silences("slot 30 of ze_event_dditable_t", 73));
  EXPECT_EQ(state_changed_by("slot 9 of zet_metric_dditable_t"), 0u);
}

TEST(unknown_effects, are_those_of_calls_not_of_functions_that_were_only_handed_out) {
  EXPECT_EQ(state_changed_by({{"zeGraphSuspendFuture", 0}}), 0u);
  EXPECT_NE(state_changed_by({{"zetMetricFuture", 4}, {"zeGraphSuspendFuture", 1}}), 0u);
}

TEST(unknown_effects, do_not_silence_rules_about_a_single_call) {
  for (const unsigned rule : {1u, 2u, 16u, 46u, 69u, 79u}) EXPECT_EQ(state_needed_by(ev(rule)), 0u);
}

class unknown_calls : public checked_program {
 protected:
  // A wait that nothing ends, after a call that the model does not understand.
  std::string broken_after(std::string_view name) {
    const handle list = program.in_order_immediate_list(context, device);
    const handle event = program.event(pool, 0);
    program.call(function::other, [&](model::call_view& call) { call.name = name; });
    program.barrier(list, {.waits = {event}});
    program.never_returns().synchronise_list(list);
    return broken();
  }
};

TEST_F(unknown_calls, that_bring_commands_from_elsewhere_silence_rules_about_order) {
  EXPECT_EQ(broken_after("zexCommandListLoadNativeBinary"), "");
}

TEST_F(unknown_calls, that_do_not_bring_any_silence_none) {
  EXPECT_NE(broken_after("zexCommandListTempMemGetSize"), "");
}

}  // namespace
}  // namespace zevent::check
