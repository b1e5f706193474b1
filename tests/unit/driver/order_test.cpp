// The order of commands: what in-order lists, events, barriers, queues and fences hold back, and
// that no append waits for what its command waits for.

#include "driver_fixture.hpp"

namespace zevent::driver::test {
namespace {

using order = driver_fixture;

TEST_F(order, a_command_does_not_start_before_its_wait_event) {
  const auto list = immediate_list();
  const auto gate = regular_event();
  const auto done = regular_event();
  auto* numbers = shared_memory<uint32_t>(2);
  numbers[0] = 1;
  ASSERT_EQ(copy(list, &numbers[1], &numbers[0], done, {gate}), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(done, 1'000'000), ZE_RESULT_NOT_READY);
  numbers[0] = 2;
  ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeEventHostSynchronize(done, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(numbers[1], 2u);
}

TEST_F(order, a_blocked_list_does_not_hold_up_another) {
  const auto blocked = in_order_list();
  const auto running = in_order_list();
  const auto gate = regular_event();
  const auto done = regular_event();
  ASSERT_EQ(zeCommandListAppendWaitOnEvents(blocked, 1, const_cast<ze_event_handle_t*>(&gate)),
            ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListAppendSignalEvent(running, done), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(done, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListHostSynchronize(blocked, 0), ZE_RESULT_NOT_READY);
  ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListHostSynchronize(blocked, forever), ZE_RESULT_SUCCESS);
}

TEST_F(order, a_queue_and_a_list_of_one_index_finish_in_the_order_of_submission) {
  constexpr size_t many = size_t{1} << 18;
  const auto earlier = in_order_list();
  const auto later = regular_list();
  const auto on = queue();
  const auto done = regular_event();
  auto* numbers = shared_memory<uint32_t>(many);
  auto* two = shared_memory<uint32_t>(2);
  ASSERT_EQ(copy(later, &two[1], &two[0], done), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(later), ZE_RESULT_SUCCESS);
  for (uint32_t round = 1; round <= 20; ++round) {
    ASSERT_EQ(zeCommandListAppendMemoryFill(earlier, numbers, &round, sizeof round,
                                            many * sizeof round, nullptr, 0, nullptr),
              ZE_RESULT_SUCCESS);
    execute(on, later);
    ASSERT_EQ(zeEventHostSynchronize(done, forever), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeEventHostReset(done), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeCommandQueueSynchronize(on, forever), ZE_RESULT_SUCCESS);
    ASSERT_EQ(numbers[many - 1], round) << "the fill was submitted before the copy";
  }
}

TEST_F(order, immediate_lists_of_one_index_finish_in_the_order_of_submission) {
  constexpr size_t many = size_t{1} << 16;
  constexpr uint32_t count = 8;
  std::vector<ze_command_list_handle_t> lists;
  for (uint32_t i = 0; i < count; ++i) lists.push_back(in_order_list());
  auto* numbers = shared_memory<uint32_t>(many * count);
  for (uint32_t round = 1; round <= 10; ++round) {
    for (uint32_t i = 0; i < count; ++i) {
      ASSERT_EQ(zeCommandListAppendMemoryFill(lists[i], numbers + many * i, &round, sizeof round,
                                              many * sizeof round, nullptr, 0, nullptr),
                ZE_RESULT_SUCCESS);
    }
    ASSERT_EQ(zeCommandListHostSynchronize(lists.back(), forever), ZE_RESULT_SUCCESS);
    for (uint32_t i = 1; i <= count; ++i) ASSERT_EQ(numbers[many * i - 1], round);
  }
}

TEST_F(order, what_was_submitted_earlier_may_wait_for_what_comes_later) {
  const auto earlier = in_order_list();
  const auto later = regular_list();
  static std::atomic<int> written;
  written = 0;
  const auto wait = [](void*) {
    while (written < 2) std::this_thread::yield();
  };
  const auto write = [](void*) { ++written; };
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(zeCommandListAppendHostFunction(later, write, nullptr, nullptr, nullptr, 0, nullptr),
              ZE_RESULT_SUCCESS);
  }
  ASSERT_EQ(zeCommandListClose(later), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListAppendHostFunction(earlier, wait, nullptr, nullptr, nullptr, 0, nullptr),
            ZE_RESULT_SUCCESS);
  const auto on = queue();
  execute(on, later);
  EXPECT_EQ(zeCommandListHostSynchronize(earlier, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandQueueSynchronize(on, forever), ZE_RESULT_SUCCESS);
}

TEST_F(order, a_hundred_blocked_lists_wait_and_all_go_on) {
  const auto gate = regular_event();
  std::vector<ze_command_list_handle_t> lists;
  auto* numbers = shared_memory<uint32_t>(101);
  numbers[100] = 7;
  for (uint32_t i = 0; i < 100; ++i) {
    lists.push_back(in_order_list());
    ASSERT_EQ(copy(lists[i], &numbers[i], &numbers[100], nullptr, {gate}), ZE_RESULT_SUCCESS);
  }
  ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
  for (uint32_t i = 0; i < 100; ++i) {
    ASSERT_EQ(zeCommandListHostSynchronize(lists[i], forever), ZE_RESULT_SUCCESS);
    EXPECT_EQ(numbers[i], 7u);
  }
}

TEST_F(order, execute_and_append_return_although_this_thread_signals_later) {
  const auto gate = regular_event();
  const auto list = regular_list();
  const auto on = queue();
  auto* numbers = shared_memory<uint32_t>(2);
  numbers[0] = 5;
  ASSERT_EQ(copy(list, &numbers[1], &numbers[0], nullptr, {gate}), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(list), ZE_RESULT_SUCCESS);
  execute(on, list);
  EXPECT_EQ(zeCommandQueueSynchronize(on, 0), ZE_RESULT_NOT_READY);
  ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandQueueSynchronize(on, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(numbers[1], 5u);
}

TEST_F(order, in_order_lists_run_each_command_after_the_one_before) {
  const auto list = in_order_list();
  auto* numbers = shared_memory<uint32_t>(1001);
  numbers[0] = 9;
  for (uint32_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(copy(list, &numbers[i + 1], &numbers[i]), ZE_RESULT_SUCCESS);
  }
  ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(numbers[1000], 9u);
}

TEST_F(order, a_barrier_without_waits_is_complete_after_all_before_it) {
  const auto list = immediate_list();
  const auto gate = regular_event();
  const auto passed = regular_event();
  auto* numbers = shared_memory<uint32_t>(2);
  numbers[0] = 3;
  ASSERT_EQ(copy(list, &numbers[1], &numbers[0], nullptr, {gate}), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListAppendBarrier(list, passed, 0, nullptr), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventQueryStatus(passed), ZE_RESULT_NOT_READY);
  ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeEventHostSynchronize(passed, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(numbers[1], 3u);
}

TEST_F(order, a_barrier_with_waits_holds_back_what_follows) {
  const auto list = immediate_list();
  auto gate = regular_event();
  const auto after = regular_event();
  ASSERT_EQ(zeCommandListAppendBarrier(list, nullptr, 1, &gate), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListAppendSignalEvent(list, after), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(after, 1'000'000), ZE_RESULT_NOT_READY);
  ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(after, forever), ZE_RESULT_SUCCESS);
}

TEST_F(order, a_memory_ranges_barrier_is_a_barrier) {
  const auto list = immediate_list();
  const auto passed = regular_event();
  auto* numbers = shared_memory<uint32_t>(2);
  const size_t bytes = 2 * sizeof(uint32_t);
  const void* range = numbers;
  ASSERT_EQ(zeCommandListAppendMemoryRangesBarrier(list, 1, &bytes, &range, passed, 0, nullptr),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(passed, forever), ZE_RESULT_SUCCESS);
}

TEST_F(order, events_chain_lists_and_queues_in_any_direction) {
  const auto from = pool(3);
  std::vector<ze_event_handle_t> steps = {event_of(from, 0), event_of(from, 1), event_of(from, 2)};
  const auto last_list = in_order_list();
  const auto first_list = immediate_list();
  const auto middle = regular_list();
  const auto on = queue();
  auto* numbers = shared_memory<uint32_t>(4);
  numbers[0] = 11;
  // Submitted last first: each waits for one that comes later.
  ASSERT_EQ(copy(last_list, &numbers[3], &numbers[2], steps[2], {steps[1]}), ZE_RESULT_SUCCESS);
  ASSERT_EQ(copy(middle, &numbers[2], &numbers[1], steps[1], {steps[0]}), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(middle), ZE_RESULT_SUCCESS);
  execute(on, middle);
  ASSERT_EQ(copy(first_list, &numbers[1], &numbers[0], steps[0]), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeEventHostSynchronize(steps[2], forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(numbers[3], 11u);
}

TEST_F(order, a_synchronous_list_returns_when_the_command_is_complete) {
  const auto list = immediate_list(0, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  auto* numbers = shared_memory<uint32_t>(2);
  numbers[0] = 4;
  ASSERT_EQ(copy(list, &numbers[1], &numbers[0]), ZE_RESULT_SUCCESS);
  EXPECT_EQ(numbers[1], 4u);
}

TEST_F(order, a_synchronous_queue_returns_when_the_lists_are_complete) {
  const auto list = regular_list();
  auto* numbers = shared_memory<uint32_t>(2);
  numbers[0] = 4;
  ASSERT_EQ(copy(list, &numbers[1], &numbers[0]), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(list), ZE_RESULT_SUCCESS);
  execute(queue(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS), list);
  EXPECT_EQ(numbers[1], 4u);
}

TEST_F(order, after_a_list_is_synchronised_its_events_are_complete) {
  const auto list = immediate_list();
  const auto event = regular_event();
  for (int round = 0; round < 500; ++round) {
    ASSERT_EQ(zeCommandListAppendSignalEvent(list, event), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeEventQueryStatus(event), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeEventHostReset(event), ZE_RESULT_SUCCESS);
  }
}

TEST_F(order, the_device_is_synchronised_when_all_its_lists_are_idle) {
  auto* numbers = shared_memory<uint32_t>(3);
  numbers[0] = 8;
  ASSERT_EQ(copy(in_order_list(), &numbers[1], &numbers[0]), ZE_RESULT_SUCCESS);
  ASSERT_EQ(copy(immediate_list(), &numbers[2], &numbers[0]), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeDeviceSynchronize(device_), ZE_RESULT_SUCCESS);
  EXPECT_EQ(numbers[1], 8u);
  EXPECT_EQ(numbers[2], 8u);
}

TEST_F(order, host_functions_run_in_their_place) {
  const auto list = in_order_list();
  auto* numbers = shared_memory<uint32_t>(3);
  numbers[0] = 20;
  ASSERT_EQ(copy(list, &numbers[1], &numbers[0]), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListAppendHostFunction(
                list, [](void* data) { ++static_cast<uint32_t*>(data)[1]; }, numbers, nullptr,
                nullptr, 0, nullptr),
            ZE_RESULT_SUCCESS);
  ASSERT_EQ(copy(list, &numbers[2], &numbers[1]), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(numbers[2], 21u);
}

TEST_F(order, host_functions_of_two_lists_run_at_the_same_time) {
  struct meeting {
    std::atomic<int> arrived{0};
    static void arrive(void* self) {
      auto& here = *static_cast<meeting*>(self);
      ++here.arrived;
      while (here.arrived < 2) std::this_thread::yield();
    }
  } both;
  const auto one = in_order_list();
  const auto other = in_order_list();
  for (const auto list : {one, other}) {
    ASSERT_EQ(
        zeCommandListAppendHostFunction(list, meeting::arrive, &both, nullptr, nullptr, 0, nullptr),
        ZE_RESULT_SUCCESS);
  }
  EXPECT_EQ(zeCommandListHostSynchronize(one, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListHostSynchronize(other, forever), ZE_RESULT_SUCCESS);
}

TEST_F(order, high_priority_work_may_wait_for_low_priority_work_unseen) {
  std::atomic<bool> done{false};
  const auto high = in_order_list(ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH);
  const auto low = in_order_list(ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW);
  ASSERT_EQ(zeCommandListAppendHostFunction(
                high,
                [](void* flag) {
                  while (!*static_cast<std::atomic<bool>*>(flag)) std::this_thread::yield();
                },
                &done, nullptr, nullptr, 0, nullptr),
            ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListAppendHostFunction(
                low, [](void* flag) { *static_cast<std::atomic<bool>*>(flag) = true; }, &done,
                nullptr, nullptr, 0, nullptr),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListHostSynchronize(high, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListHostSynchronize(low, forever), ZE_RESULT_SUCCESS);
}

}  // namespace
}  // namespace zevent::driver::test
