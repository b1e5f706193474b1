// Regular lists, queues and fences: recorded once, executed many times, alive while they run.

#include "driver_fixture.hpp"

namespace zevent::driver::test {
namespace {

using lists = driver_fixture;

TEST_F(lists, can_be_executed_again_and_again) {
  const auto list = regular_list();
  const auto on = queue();
  auto* numbers = shared_memory<uint32_t>(2);
  ASSERT_EQ(copy(list, &numbers[1], &numbers[0]), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(list), ZE_RESULT_SUCCESS);
  for (uint32_t round = 1; round <= 20; ++round) {
    numbers[0] = round;
    execute(on, list);
    ASSERT_EQ(zeCommandQueueSynchronize(on, forever), ZE_RESULT_SUCCESS);
    ASSERT_EQ(numbers[1], round);
  }
}

TEST_F(lists, are_empty_and_open_after_a_reset) {
  const auto list = regular_list();
  const auto on = queue();
  auto* numbers = shared_memory<uint32_t>(3);
  numbers[0] = 1;
  ASSERT_EQ(copy(list, &numbers[1], &numbers[0]), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(list), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListReset(list), ZE_RESULT_SUCCESS);
  ASSERT_EQ(copy(list, &numbers[2], &numbers[0]), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(list), ZE_RESULT_SUCCESS);
  execute(on, list);
  ASSERT_EQ(zeCommandQueueSynchronize(on, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(numbers[1], 0u);
  EXPECT_EQ(numbers[2], 1u);
}

TEST_F(lists, with_nothing_in_them_can_be_executed) {
  const auto list = regular_list();
  const auto on = queue();
  ASSERT_EQ(zeCommandListClose(list), ZE_RESULT_SUCCESS);
  execute(on, list);
  EXPECT_EQ(zeCommandQueueSynchronize(on, forever), ZE_RESULT_SUCCESS);
}

TEST_F(lists, used_once_per_command_as_opencl_does) {
  const auto list = regular_list();
  const auto on = queue();
  auto event = regular_event();
  auto* numbers = shared_memory<uint32_t>(2);
  for (uint32_t round = 1; round <= 50; ++round) {
    numbers[0] = round;
    ASSERT_EQ(copy(list, &numbers[1], &numbers[0], event), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeCommandListAppendBarrier(list, nullptr, 0, nullptr), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeCommandListAppendEventReset(list, event), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeCommandListClose(list), ZE_RESULT_SUCCESS);
    execute(on, list);
    ASSERT_EQ(zeCommandQueueSynchronize(on, forever), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeCommandListReset(list), ZE_RESULT_SUCCESS);
    ASSERT_EQ(numbers[1], round);
    ASSERT_EQ(zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
  }
}

TEST_F(lists, may_be_destroyed_while_they_run) {
  const auto gate = regular_event();
  const auto on = queue();
  auto* numbers = shared_memory<uint32_t>(2);
  numbers[0] = 6;
  const ze_command_list_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, 0, 0};
  ze_command_list_handle_t list = nullptr;
  ASSERT_EQ(zeCommandListCreate(context_, device_, &desc, &list), ZE_RESULT_SUCCESS);
  ASSERT_EQ(copy(list, &numbers[1], &numbers[0], nullptr, {gate}), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(list), ZE_RESULT_SUCCESS);
  execute(on, list);
  ASSERT_EQ(zeCommandListDestroy(list), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandQueueSynchronize(on, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(numbers[1], 6u);
}

TEST_F(lists, an_immediate_one_may_be_destroyed_while_it_runs) {
  const auto gate = regular_event();
  const auto done = regular_event();
  ze_command_queue_desc_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  ze_command_list_handle_t list = nullptr;
  ASSERT_EQ(zeCommandListCreateImmediate(context_, device_, &desc, &list), ZE_RESULT_SUCCESS);
  auto* numbers = shared_memory<uint32_t>(2);
  numbers[0] = 6;
  ASSERT_EQ(copy(list, &numbers[1], &numbers[0], done, {gate}), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListDestroy(list), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeEventHostSynchronize(done, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(numbers[1], 6u);
}

TEST_F(lists, are_appended_to_an_immediate_one) {
  const auto outer = in_order_list();
  auto inner = regular_list();
  auto gate = regular_event();
  const auto done = regular_event();
  auto* numbers = shared_memory<uint32_t>(3);
  numbers[0] = 12;
  ASSERT_EQ(copy(inner, &numbers[1], &numbers[0]), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(inner), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListImmediateAppendCommandListsExp(outer, 1, &inner, done, 1, &gate),
            ZE_RESULT_SUCCESS);
  ASSERT_EQ(copy(outer, &numbers[2], &numbers[1]), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(done, 100'000), ZE_RESULT_NOT_READY);
  ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(done, forever), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListHostSynchronize(outer, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(numbers[2], 12u);
}

TEST_F(lists, tell_what_they_were_created_with) {
  const auto immediate =
      immediate_list(ZE_COMMAND_QUEUE_FLAG_IN_ORDER, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS, 1);
  const auto regular = regular_list(ZE_COMMAND_LIST_FLAG_IN_ORDER);
  ze_device_handle_t device = nullptr;
  ze_context_handle_t context = nullptr;
  uint32_t ordinal = 9;
  uint32_t index = 9;
  ze_bool_t is_immediate = 9;
  ze_command_queue_mode_t mode = ZE_COMMAND_QUEUE_MODE_DEFAULT;
  ze_command_queue_priority_t priority = ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH;
  ze_command_queue_flags_t queue_flags = 0;
  ze_command_list_flags_t list_flags = 0;
  EXPECT_EQ(zeCommandListGetDeviceHandle(immediate, &device), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListGetContextHandle(immediate, &context), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListGetOrdinal(immediate, &ordinal), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListImmediateGetIndex(immediate, &index), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListIsImmediate(immediate, &is_immediate), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListImmediateGetMode(immediate, &mode), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListImmediateGetPriority(immediate, &priority), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListImmediateGetFlags(immediate, &queue_flags), ZE_RESULT_SUCCESS);
  EXPECT_EQ(device, device_);
  EXPECT_EQ(context, context_);
  EXPECT_EQ(ordinal, 1u);
  EXPECT_EQ(index, 0u);
  EXPECT_EQ(is_immediate, 1);
  EXPECT_EQ(mode, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  EXPECT_EQ(priority, ZE_COMMAND_QUEUE_PRIORITY_NORMAL);
  EXPECT_EQ(queue_flags, ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  EXPECT_EQ(zeCommandListIsImmediate(regular, &is_immediate), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListGetFlags(regular, &list_flags), ZE_RESULT_SUCCESS);
  EXPECT_EQ(is_immediate, 0);
  EXPECT_EQ(list_flags, ZE_COMMAND_LIST_FLAG_IN_ORDER);
}

TEST_F(lists, a_queue_tells_what_it_was_created_with) {
  const auto made = queue(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  uint32_t ordinal = 9;
  uint32_t index = 9;
  ze_command_queue_flags_t flags = 9;
  ze_command_queue_mode_t mode = ZE_COMMAND_QUEUE_MODE_DEFAULT;
  ze_command_queue_priority_t priority = ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH;
  EXPECT_EQ(zeCommandQueueGetOrdinal(made, &ordinal), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandQueueGetIndex(made, &index), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandQueueGetFlags(made, &flags), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandQueueGetMode(made, &mode), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandQueueGetPriority(made, &priority), ZE_RESULT_SUCCESS);
  EXPECT_EQ(ordinal, 0u);
  EXPECT_EQ(index, 0u);
  EXPECT_EQ(flags, 0u);
  EXPECT_EQ(mode, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  EXPECT_EQ(priority, ZE_COMMAND_QUEUE_PRIORITY_NORMAL);
}

class fences : public driver_fixture {
 protected:
  ze_fence_handle_t fence(ze_command_queue_handle_t of, ze_fence_flags_t flags = 0) {
    const ze_fence_desc_t desc = {ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, flags};
    ze_fence_handle_t made = nullptr;
    EXPECT_EQ(zeFenceCreate(of, &desc, &made), ZE_RESULT_SUCCESS);
    at_end([made] { EXPECT_EQ(zeFenceDestroy(made), ZE_RESULT_SUCCESS); });
    return made;
  }
};

TEST_F(fences, are_signalled_when_all_submitted_lists_are_complete) {
  const auto on = queue();
  const auto done = fence(on);
  const auto gate = regular_event();
  std::vector<ze_command_list_handle_t> both = {regular_list(), regular_list()};
  auto* numbers = shared_memory<uint32_t>(3);
  numbers[0] = 2;
  ASSERT_EQ(copy(both[0], &numbers[1], &numbers[0]), ZE_RESULT_SUCCESS);
  ASSERT_EQ(copy(both[1], &numbers[2], &numbers[0], nullptr, {gate}), ZE_RESULT_SUCCESS);
  for (const auto each : both) ASSERT_EQ(zeCommandListClose(each), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandQueueExecuteCommandLists(on, 2, both.data(), done), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeFenceQueryStatus(done), ZE_RESULT_NOT_READY);
  EXPECT_EQ(zeFenceHostSynchronize(done, 1000), ZE_RESULT_NOT_READY);
  ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeFenceHostSynchronize(done, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeFenceQueryStatus(done), ZE_RESULT_SUCCESS);
  EXPECT_EQ(numbers[2], 2u);
}

TEST_F(fences, can_be_created_signalled_and_reset) {
  const auto made = fence(queue(), ZE_FENCE_FLAG_SIGNALED);
  EXPECT_EQ(zeFenceQueryStatus(made), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeFenceReset(made), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeFenceQueryStatus(made), ZE_RESULT_NOT_READY);
}

TEST_F(fences, are_used_for_one_execution_after_the_other) {
  const auto on = queue();
  const auto done = fence(on);
  const auto list = regular_list();
  ASSERT_EQ(zeCommandListClose(list), ZE_RESULT_SUCCESS);
  for (int round = 0; round < 100; ++round) {
    execute(on, list, done);
    ASSERT_EQ(zeFenceHostSynchronize(done, forever), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeFenceReset(done), ZE_RESULT_SUCCESS);
  }
}

}  // namespace
}  // namespace zevent::driver::test
