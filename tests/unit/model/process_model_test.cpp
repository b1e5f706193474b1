#include "model/process_model.hpp"

#include <gtest/gtest.h>

#include <set>

#include "hand_made_program.hpp"

namespace zevent::model {
namespace {

// Notes the conflicts and which commands have started.
struct observer : listener {
  void starting(const run& about_to) override { started.insert(number_of(about_to.what->call)); }
  void conflicts(const access_map::conflict& found) override {
    auto& place = found.ordered ? unseen : races;
    place.insert({number_of(found.earlier.what->call), number_of(found.later.what->call)});
  }
  using pairs = std::set<std::pair<uint64_t, uint64_t>>;
  std::set<uint64_t> started;
  pairs races, unseen;
};

class process_model_test : public testing::Test {
 protected:
  using handle = uint64_t;

  static auto pair(trace::call_number a, trace::call_number b) {
    return observer::pairs{{number_of(a), number_of(b)}};
  }
  bool has_started(trace::call_number call) const { return seen.started.contains(number_of(call)); }

  observer seen;
  process_model model{seen};
  hand_made_program<process_model> program{model};
  handle device = program.device();
  handle context = program.context();
  handle pool = program.pool(context);
  handle a = program.memory(context, device, 4096);
  handle b = program.memory(context, device, 4096);
  handle c = program.memory(context, device, 4096);
};

TEST_F(process_model_test, commands_of_an_in_order_list_are_ordered) {
  const auto list = program.in_order_immediate_list(context, device);
  program.copy(list, b, a, 4096);
  program.copy(list, c, b, 4096);
  EXPECT_TRUE(seen.races.empty());
}

TEST_F(process_model_test, commands_of_another_list_are_not) {
  const auto list = program.immediate_list(context, device);
  const auto first = program.copy(list, b, a, 4096);
  const auto second = program.copy(list, c, b, 4096);
  EXPECT_EQ(seen.races, pair(first, second));
}

TEST_F(process_model_test, reading_twice_is_no_conflict) {
  const auto list = program.immediate_list(context, device);
  program.copy(list, b, a, 4096);
  program.copy(list, c, a, 4096);
  EXPECT_TRUE(seen.races.empty());
}

TEST_F(process_model_test, ranges_that_only_touch_are_no_conflict) {
  const auto list = program.immediate_list(context, device);
  program.fill(list, a, 2048);
  program.fill(list, a + 2048, 2048);
  EXPECT_TRUE(seen.races.empty());
}

TEST_F(process_model_test, a_barrier_orders_what_is_before_and_after_it) {
  const auto list = program.immediate_list(context, device);
  program.copy(list, b, a, 4096);
  program.barrier(list);
  program.copy(list, c, b, 4096);
  EXPECT_TRUE(seen.races.empty());
}

TEST_F(process_model_test, a_barrier_with_waits_waits_for_nothing_else) {
  const auto list = program.immediate_list(context, device);
  const auto event = program.event(pool);
  const auto first = program.copy(list, b, a, 2048);
  program.copy(list, b + 2048, a + 2048, 2048, {.signal = event});
  program.barrier(list, {.waits = {event}});
  const auto last = program.copy(list, c, b, 4096);
  EXPECT_EQ(seen.races, pair(first, last));
}

TEST_F(process_model_test, an_event_orders_commands_of_different_lists) {
  const auto one = program.immediate_list(context, device);
  const auto other = program.immediate_list(context, device);
  const auto event = program.event(pool);
  program.copy(one, b, a, 4096, {.signal = event});
  program.copy(other, c, b, 4096, {.waits = {event}});
  program.copy(other, c, b, 4096, {.waits = {event}});
  EXPECT_EQ(seen.races.size(), 1u) << "both copies write the same memory, and nothing more";
}

TEST_F(process_model_test, commands_start_in_order_after_one_that_waits) {
  const auto one = program.immediate_list(context, device);
  const auto other = program.immediate_list(context, device);
  const auto event = program.event(pool);
  program.copy(one, b, a, 4096, {.signal = event});
  program.wait(other, {event});
  program.copy(other, c, b, 4096);
  EXPECT_TRUE(seen.races.empty());
}

TEST_F(process_model_test, the_signal_may_be_submitted_after_the_wait) {
  const auto one = program.immediate_list(context, device);
  const auto other = program.immediate_list(context, device);
  const auto event = program.event(pool);
  const auto waiting = program.copy(other, c, b, 4096, {.waits = {event}});
  EXPECT_FALSE(has_started(waiting));
  program.copy(one, b, a, 4096, {.signal = event});
  EXPECT_TRUE(has_started(waiting));
  EXPECT_TRUE(seen.races.empty());
}

TEST_F(process_model_test, an_event_that_several_signal_stands_for_what_they_have_in_common) {
  const auto list = program.immediate_list(context, device);
  const auto other = program.immediate_list(context, device);
  const auto event = program.event(pool);
  const auto first = program.copy(list, b, a, 2048, {.signal = event});
  const auto second = program.copy(list, b + 2048, a + 2048, 2048, {.signal = event});
  const auto reads_first = program.copy(other, c, b, 2048, {.waits = {event}});
  const auto reads_second = program.copy(other, c + 2048, b + 2048, 2048, {.waits = {event}});
  EXPECT_EQ(seen.races, (observer::pairs{{number_of(first), number_of(reads_first)},
                                         {number_of(second), number_of(reads_second)}}));
}

TEST_F(process_model_test, an_event_without_scope_orders_but_does_not_show) {
  const auto one = program.immediate_list(context, device);
  const auto other = program.immediate_list(context, device);
  const auto event = program.event(pool, 0, 0);
  const auto writes = program.copy(one, b, a, 4096, {.signal = event});
  const auto reads = program.copy(other, c, b, 4096, {.waits = {event}});
  EXPECT_TRUE(seen.races.empty());
  EXPECT_EQ(seen.unseen, pair(writes, reads));
}

TEST_F(process_model_test, within_its_list_an_event_without_scope_does) {
  const auto list = program.immediate_list(context, device);
  const auto event = program.event(pool, 0, 0);
  program.copy(list, b, a, 4096, {.signal = event});
  program.copy(list, c, b, 4096, {.waits = {event}});
  EXPECT_TRUE(seen.races.empty());
  EXPECT_TRUE(seen.unseen.empty());
}

TEST_F(process_model_test, what_the_host_has_waited_for_is_before_all_that_follows) {
  const auto one = program.immediate_list(context, device);
  const auto other = program.immediate_list(context, device);
  const auto event = program.event(pool);
  program.copy(one, b, a, 4096, {.signal = event});
  program.synchronise(event);
  program.copy(other, c, b, 4096);
  EXPECT_TRUE(seen.races.empty());
}

TEST_F(process_model_test, the_host_waiting_for_one_command_says_nothing_of_others_before_it) {
  const auto list = program.immediate_list(context, device);
  const auto event = program.event(pool);
  const auto first = program.copy(list, b, a, 2048);
  program.copy(list, b + 2048, a, 2048, {.signal = event});
  program.synchronise(event);
  const auto last = program.copy(list, c, b, 4096);
  EXPECT_EQ(seen.races, pair(first, last));
}

TEST_F(process_model_test, a_query_that_says_not_ready_says_nothing) {
  const auto one = program.immediate_list(context, device);
  const auto other = program.immediate_list(context, device);
  const auto event = program.event(pool);
  const auto writes = program.copy(one, b, a, 4096, {.signal = event});
  program.returns(ZE_RESULT_NOT_READY).query(event);
  const auto reads = program.copy(other, c, b, 4096);
  EXPECT_EQ(seen.races, pair(writes, reads));
}

TEST_F(process_model_test, lists_of_one_queue_start_but_need_not_end_in_order) {
  const auto queue = program.queue(context, device);
  const auto one = program.list(context, device, ZE_COMMAND_LIST_FLAG_IN_ORDER);
  const auto other = program.list(context, device, ZE_COMMAND_LIST_FLAG_IN_ORDER);
  const auto writes = program.copy(one, b, a, 4096);
  const auto reads = program.copy(other, c, b, 4096);
  program.close(one);
  program.close(other);
  program.execute(queue, {one, other});
  EXPECT_EQ(seen.races, pair(writes, reads));
}

TEST_F(process_model_test, a_barrier_waits_for_earlier_lists_of_its_queue) {
  const auto queue = program.queue(context, device);
  const auto one = program.list(context, device);
  const auto other = program.list(context, device);
  program.copy(one, b, a, 4096);
  program.barrier(other);
  program.copy(other, c, b, 4096);
  program.execute(queue, {one});
  program.execute(queue, {other});
  EXPECT_TRUE(seen.races.empty());
}

TEST_F(process_model_test, a_fence_covers_all_that_its_queue_was_given_before) {
  const auto queue = program.queue(context, device);
  const auto fence = program.fence(queue);
  const auto one = program.list(context, device);
  const auto other = program.list(context, device);
  program.copy(one, b, a, 4096);
  program.copy(other, c, b, 4096);
  program.execute(queue, {one}, fence);
  program.call(function::zeFenceHostSynchronize,
               {{argument::hFence, fence}, {argument::timeout, UINT64_MAX}});
  program.execute(queue, {other});
  EXPECT_TRUE(seen.races.empty());
}

TEST_F(process_model_test, executions_of_one_list_are_different_commands) {
  const auto queue = program.queue(context, device);
  const auto list = program.list(context, device, ZE_COMMAND_LIST_FLAG_IN_ORDER);
  const auto copy = program.copy(list, b, a, 4096);
  program.execute(queue, {list});
  program.execute(queue, {list});
  EXPECT_EQ(seen.races, pair(copy, copy));
}

TEST_F(process_model_test, a_counter_event_stands_for_the_last_append_before_the_wait) {
  const auto one = program.in_order_immediate_list(context, device);
  const auto other = program.in_order_immediate_list(context, device);
  const auto third = program.in_order_immediate_list(context, device);
  const auto event = program.counter_event(context, device);
  program.copy(one, b, a, 2048, {.signal = event});
  program.copy(other, c, b, 2048, {.waits = {event}});
  const auto later = program.copy(third, b, a, 4096, {.signal = event});
  EXPECT_EQ(seen.races.size(), 2u) << "the third list waits for neither of the others";
  seen.races.clear();
  const auto reads = program.copy(other, a, b + 2048, 16);
  EXPECT_EQ(seen.races, pair(later, reads)) << "the wait was bound before the third list came";
}

TEST_F(process_model_test, a_counter_event_is_complete_from_its_creation) {
  const auto list = program.in_order_immediate_list(context, device);
  const auto event = program.counter_event(context, device);
  EXPECT_TRUE(has_started(program.copy(list, b, a, 4096, {.waits = {event}})));
}

TEST_F(process_model_test, a_counter_event_of_a_list_that_was_not_executed_is_waited_for) {
  const auto queue = program.queue(context, device);
  const auto list = program.list(context, device, ZE_COMMAND_LIST_FLAG_IN_ORDER);
  const auto other = program.in_order_immediate_list(context, device);
  const auto event = program.counter_event(context, device);
  program.copy(list, b, a, 4096, {.signal = event});
  const auto waits = program.copy(other, c, b, 4096, {.waits = {event}});
  EXPECT_FALSE(has_started(waits));
  program.execute(queue, {list});
  EXPECT_TRUE(has_started(waits));
  EXPECT_TRUE(seen.races.empty());
}

TEST_F(process_model_test, a_reset_event_holds_up_what_waits_for_it) {
  const auto list = program.immediate_list(context, device);
  const auto other = program.immediate_list(context, device);
  const auto event = program.event(pool);
  program.copy(list, b, a, 4096, {.signal = event});
  program.synchronise(event);
  program.host_reset(event);
  const auto waits = program.copy(other, c, b, 4096, {.waits = {event}});
  EXPECT_FALSE(has_started(waits));
  program.host_signal(event);
  EXPECT_TRUE(has_started(waits));
}

TEST_F(process_model_test, a_synchronisation_that_succeeded_overrules_what_was_expected) {
  const auto list = program.immediate_list(context, device);
  const auto event = program.event(pool);
  const auto waits = program.copy(list, c, b, 4096, {.waits = {event}});
  EXPECT_FALSE(has_started(waits));
  program.synchronise_list(list);
  EXPECT_TRUE(has_started(waits));
  EXPECT_FALSE(model.lists.find(list)->own->busy());
}

TEST_F(process_model_test, a_synchronous_list_is_done_when_its_append_returns) {
  const auto list = program.immediate_list(context, device, 0, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  program.copy(list, b, a, 4096);
  program.copy(list, c, b, 4096);
  EXPECT_TRUE(seen.races.empty());
}

TEST_F(process_model_test, what_failed_did_nothing) {
  const auto list = program.immediate_list(context, device);
  program.returns(ZE_RESULT_ERROR_INVALID_ARGUMENT).copy(list, b, a, 4096);
  program.copy(list, c, b, 4096);
  EXPECT_TRUE(seen.races.empty());
}

TEST_F(process_model_test, lists_appended_to_an_in_order_list_are_one_command_of_it) {
  const auto outer = program.in_order_immediate_list(context, device);
  const auto inner = program.list(context, device);
  program.copy(inner, c, b, 4096);
  program.close(inner);
  program.copy(outer, b, a, 4096);
  program.call(function::zeCommandListImmediateAppendCommandListsExp, [&](call_view& call) {
    call.set(argument::hCommandList, outer);
    call.set(argument::numCommandLists, 1);
    call.set_list(argument::phCommandLists, std::vector{inner});
  });
  program.copy(outer, a, c, 4096);
  EXPECT_TRUE(seen.races.empty());
}

TEST_F(process_model_test, a_handle_given_out_again_is_another_object) {
  const auto event = program.event(pool);
  const auto* first = model.events.find(event);
  program.destroy_event(event);
  EXPECT_FALSE(model.events.find(event)->alive());
  program.call(function::zeEventCreate,
               {{argument::hEventPool, pool}, {argument::index, 0}, {argument::phEvent, event}});
  EXPECT_TRUE(model.events.find(event)->alive());
  EXPECT_NE(model.events.find(event)->created, trace::call_number{0});
  static_cast<void>(first);
}

TEST_F(process_model_test, a_handle_that_changes_hands_between_threads_is_told_apart) {
  const auto event = program.event(pool);
  // Thread 1 destroys it from 50 to 60 µs; thread 2 has begun to create one at 40 and gets the same
  // handle at 58.
  program.at_ns(40'000).on_thread(2).takes_ns(18'000).call(
      function::zeEventCreate,
      {{argument::hEventPool, pool}, {argument::index, 1}, {argument::phEvent, event}});
  program.at_ns(50'000).on_thread(1).takes_ns(10'000).destroy_event(event);
  program.at_ns(70'000).query(event);
  ASSERT_TRUE(model.events.find(event)->alive());
  EXPECT_EQ(model.events.find(event)->index, 1u);
}

TEST_F(process_model_test, memory_does_not_grow_with_the_number_of_calls) {
  const auto list = program.immediate_list(context, device);
  const auto event = program.event(pool);
  for (int i = 0; i < 10'000; ++i) {
    program.copy(list, b, a, 4096, {.signal = event});
    program.synchronise(event);
    program.host_reset(event);
  }
  EXPECT_TRUE(seen.races.empty());
  EXPECT_LE(model.streams().front()->runs.size(), 1u);
  EXPECT_LE(model.accesses().size(), 4u);
}

TEST_F(process_model_test, a_program_that_never_synchronises_is_bounded_too) {
  const auto list = program.in_order_immediate_list(context, device);
  for (int i = 0; i < 200'000; ++i) program.copy(list, b, a, 4096);
  EXPECT_LE(model.streams().front()->runs.size(), 65'537u);
}

}  // namespace
}  // namespace zevent::model
