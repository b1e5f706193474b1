// Clones of command lists: other lists of the same commands, which run at the same time as the
// list they were made of.

#include "driver_fixture.hpp"

namespace zevent::driver::test {
namespace {

constexpr auto cloneable = ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE;
constexpr auto in_order = ZE_COMMAND_LIST_FLAG_IN_ORDER;

class clones : public driver_fixture {
 protected:
  ze_command_list_handle_t clone_of(ze_command_list_handle_t list) {
    ze_command_list_handle_t made = nullptr;
    EXPECT_EQ(zeCommandListCreateCloneExp(list, &made), ZE_RESULT_SUCCESS);
    at_end([made] { EXPECT_EQ(zeCommandListDestroy(made), ZE_RESULT_SUCCESS); });
    return made;
  }
  bool is_signalled(ze_event_handle_t event) {
    return zeEventQueryStatus(event) == ZE_RESULT_SUCCESS;
  }
};

TEST_F(clones, do_what_the_original_does_and_inherit_its_properties) {
  auto* numbers = shared_memory<uint32_t>(2);
  const auto list = regular_list(cloneable | in_order);
  ASSERT_EQ(copy(list, &numbers[1], &numbers[0]), ZE_RESULT_SUCCESS);
  close_list(list);
  const auto clone = clone_of(list);
  ze_command_list_flags_t flags = 0;
  ASSERT_EQ(zeCommandListGetFlags(clone, &flags), ZE_RESULT_SUCCESS);
  EXPECT_EQ(flags, uint32_t{cloneable | in_order});
  const auto on = queue();
  numbers[0] = 3;
  execute_and_wait(on, clone);
  EXPECT_EQ(numbers[1], 3u);
  numbers[0] = 4;
  execute_and_wait(on, list);
  EXPECT_EQ(numbers[1], 4u);
}

TEST_F(clones, live_on_when_the_original_is_reset) {
  auto* numbers = shared_memory<uint32_t>(2);
  numbers[0] = 9;
  const auto list = regular_list(cloneable);
  ASSERT_EQ(copy(list, &numbers[1], &numbers[0]), ZE_RESULT_SUCCESS);
  close_list(list);
  const auto clone = clone_of(clone_of(list));
  ASSERT_EQ(zeCommandListReset(list), ZE_RESULT_SUCCESS);
  execute_and_wait(queue(), clone);
  EXPECT_EQ(numbers[1], 9u);
}

TEST_F(clones, are_made_of_closed_cloneable_lists_only) {
  ze_command_list_handle_t made = nullptr;
  const auto open = regular_list(cloneable);
  EXPECT_EQ(zeCommandListCreateCloneExp(open, &made), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  const auto plain = regular_list();
  close_list(plain);
  EXPECT_EQ(zeCommandListCreateCloneExp(plain, &made), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(zeCommandListCreateCloneExp(in_order_list(), &made), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(zeCommandListCreateCloneExp(open, nullptr), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  EXPECT_EQ(made, nullptr);
}

TEST_F(clones, are_made_and_run_while_the_original_runs) {
  auto gate = regular_event();
  const auto done = regular_event();
  const auto list = regular_list(cloneable);
  ASSERT_EQ(zeCommandListAppendBarrier(list, done, 1, &gate), ZE_RESULT_SUCCESS);
  close_list(list);
  const auto on = queue(), other = queue();
  execute(on, list);
  const auto clone = clone_of(list);
  execute(other, clone);
  EXPECT_FALSE(is_signalled(done));
  ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandQueueSynchronize(on, forever), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandQueueSynchronize(other, forever), ZE_RESULT_SUCCESS);
  EXPECT_TRUE(is_signalled(done));
}

TEST_F(clones, signal_the_counter_based_events_of_the_original_in_turn) {
  auto gate = regular_event();
  const auto event = counter_event();
  const auto list = regular_list(cloneable | in_order);
  ASSERT_EQ(zeCommandListAppendBarrier(list, nullptr, 1, &gate), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListAppendBarrier(list, event, 0, nullptr), ZE_RESULT_SUCCESS);
  close_list(list);
  const auto clone = clone_of(list);
  const auto on = queue();
  for (const auto each : {clone, clone, list, clone, list, list}) {
    ASSERT_EQ(zeEventHostReset(gate), ZE_RESULT_SUCCESS);
    execute(on, each);
    EXPECT_FALSE(is_signalled(event)) << "the execution has armed it";
    ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeCommandQueueSynchronize(on, forever), ZE_RESULT_SUCCESS);
  }
}

TEST_F(clones, leave_a_counter_based_event_that_has_gone_elsewhere) {
  auto gate = regular_event();
  const auto event = counter_event();
  const auto list = regular_list(cloneable | in_order);
  ASSERT_EQ(zeCommandListAppendBarrier(list, event, 1, &gate), ZE_RESULT_SUCCESS);
  close_list(list);
  const auto clone = clone_of(list);
  const auto elsewhere = in_order_list();
  ASSERT_EQ(zeCommandListAppendSignalEvent(elsewhere, event), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListHostSynchronize(elsewhere, forever), ZE_RESULT_SUCCESS);
  const auto on = queue();
  execute(on, clone);
  EXPECT_TRUE(is_signalled(event)) << "it stands for the last append that signals it";
  ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandQueueSynchronize(on, forever), ZE_RESULT_SUCCESS);
}

// A wait for an event of the same list is for the clone's own command, or it would never end where
// the original is not executed.
TEST_F(clones, wait_for_their_own_commands) {
  auto event = counter_event();
  const auto list = regular_list(cloneable | in_order);
  ASSERT_EQ(zeCommandListAppendBarrier(list, event, 0, nullptr), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListAppendBarrier(list, nullptr, 1, &event), ZE_RESULT_SUCCESS);
  close_list(list);
  const auto clone = clone_of(list);
  const auto on = queue();
  for (int round = 0; round < 3; ++round) execute_and_wait(on, clone);
}

TEST_F(clones, number_their_own_signals_of_events_that_processes_share) {
  auto gate = regular_event();
  const auto event =
      counter_event(ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE | ZE_EVENT_COUNTER_BASED_FLAG_IPC);
  const auto list = regular_list(cloneable | in_order);
  ASSERT_EQ(zeCommandListAppendBarrier(list, event, 1, &gate), ZE_RESULT_SUCCESS);
  close_list(list);
  const auto clone = clone_of(list);
  const auto on = queue();
  for (const auto each : {list, clone, clone, list}) {
    ASSERT_EQ(zeEventHostReset(gate), ZE_RESULT_SUCCESS);
    execute(on, each);
    EXPECT_FALSE(is_signalled(event));
    ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeCommandQueueSynchronize(on, forever), ZE_RESULT_SUCCESS);
  }
}

TEST_F(clones, of_mutable_lists_are_mutable_and_change_alone) {
  const auto events = pool(2);
  const auto ours = event_of(events, 0), theirs = event_of(events, 1);
  const auto list = mutable_list(cloneable);
  const uint64_t id = next_id(list);
  ASSERT_EQ(zeCommandListAppendBarrier(list, ours, 0, nullptr), ZE_RESULT_SUCCESS);
  close_list(list);
  const auto clone = clone_of(list);
  ASSERT_EQ(zeCommandListUpdateMutableCommandSignalEventExp(clone, id, theirs), ZE_RESULT_SUCCESS);
  ze_command_list_handle_t made = nullptr;
  EXPECT_EQ(zeCommandListCreateCloneExp(clone, &made), ZE_RESULT_ERROR_INVALID_ARGUMENT)
      << "it is not closed";
  close_list(clone);
  const auto on = queue();
  execute_and_wait(on, list);
  EXPECT_TRUE(is_signalled(ours));
  EXPECT_FALSE(is_signalled(theirs));
  ASSERT_EQ(zeEventHostReset(ours), ZE_RESULT_SUCCESS);
  execute_and_wait(on, clone);
  EXPECT_FALSE(is_signalled(ours));
  EXPECT_TRUE(is_signalled(theirs));
}

TEST_F(clones, are_made_by_many_threads_while_the_original_is_executed) {
  const auto event = counter_event();
  const auto list = regular_list(cloneable | in_order);
  ASSERT_EQ(zeCommandListAppendBarrier(list, event, 0, nullptr), ZE_RESULT_SUCCESS);
  close_list(list);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      ze_command_queue_desc_t desc = {};
      desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
      ze_command_queue_handle_t on = nullptr;
      EXPECT_EQ(zeCommandQueueCreate(context_, device_, &desc, &on), ZE_RESULT_SUCCESS);
      for (int round = 0; round < 50; ++round) {
        ze_command_list_handle_t made = nullptr;
        EXPECT_EQ(zeCommandListCreateCloneExp(list, &made), ZE_RESULT_SUCCESS);
        EXPECT_EQ(zeCommandQueueExecuteCommandLists(on, 1, &made, nullptr), ZE_RESULT_SUCCESS);
        EXPECT_EQ(zeCommandQueueSynchronize(on, forever), ZE_RESULT_SUCCESS);
        EXPECT_EQ(zeCommandListDestroy(made), ZE_RESULT_SUCCESS);
      }
      EXPECT_EQ(zeCommandQueueDestroy(on), ZE_RESULT_SUCCESS);
    });
  }
  const auto on = queue();
  for (int round = 0; round < 50; ++round) execute_and_wait(on, list);
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS);
}

}  // namespace
}  // namespace zevent::driver::test
