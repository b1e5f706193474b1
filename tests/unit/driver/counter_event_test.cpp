// Counter-based events: rules EV-48 to EV-60, as far as a driver has to keep them.

#include "api/zex_api.h"
#include "driver_fixture.hpp"

namespace zevent::driver::test {
namespace {

class counter_events : public driver_fixture {
 protected:
  // An append that is not complete until the gate is signalled.
  void append_behind(ze_event_handle_t gate, ze_command_list_handle_t list,
                     ze_event_handle_t signal) {
    ASSERT_EQ(zeCommandListAppendBarrier(list, signal, 1, &gate), ZE_RESULT_SUCCESS);
  }
};

TEST_F(counter_events, are_complete_from_creation) {
  const auto event = counter_event();
  EXPECT_EQ(zeEventQueryStatus(event), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS);
}

TEST_F(counter_events, follow_the_last_append_that_signals_them) {
  const auto event = counter_event();
  const auto list = in_order_list();
  const auto first = regular_event();
  const auto second = regular_event();
  append_behind(first, list, event);
  EXPECT_EQ(zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
  append_behind(second, list, event);
  ASSERT_EQ(zeEventHostSignal(first), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(event, 1'000'000), ZE_RESULT_NOT_READY);
  ASSERT_EQ(zeEventHostSignal(second), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS);
}

TEST_F(counter_events, are_reused_on_another_list_without_reset_or_wait) {
  const auto event = counter_event();
  const auto slow = in_order_list();
  const auto quick = in_order_list();
  const auto gate = regular_event();
  append_behind(gate, slow, event);
  ASSERT_EQ(zeCommandListAppendSignalEvent(quick, event), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS)
      << "the event speaks of the last signalling append only";
  EXPECT_EQ(zeCommandListHostSynchronize(slow, 0), ZE_RESULT_NOT_READY);
  ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListHostSynchronize(slow, forever), ZE_RESULT_SUCCESS);
}

TEST_F(counter_events, a_wait_binds_to_the_state_at_its_append) {
  auto event = counter_event();
  const auto producer = in_order_list();
  const auto consumer = immediate_list();
  const auto first = regular_event();
  const auto second = regular_event();
  const auto consumed = regular_event();
  append_behind(first, producer, event);
  ASSERT_EQ(zeCommandListAppendBarrier(consumer, consumed, 1, &event), ZE_RESULT_SUCCESS);
  append_behind(second, producer, event);
  ASSERT_EQ(zeEventHostSignal(first), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(consumed, forever), ZE_RESULT_SUCCESS)
      << "the wait was for the first signal, not for the second";
  EXPECT_EQ(zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
  ASSERT_EQ(zeEventHostSignal(second), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS);
}

TEST_F(counter_events, a_wait_before_any_signal_passes) {
  auto event = counter_event();
  const auto list = in_order_list();
  ASSERT_EQ(zeCommandListAppendWaitOnEvents(list, 1, &event), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
}

TEST_F(counter_events, one_command_may_wait_for_the_event_it_signals) {
  auto event = counter_event();
  const auto list = in_order_list();
  for (int round = 0; round < 10; ++round) {
    ASSERT_EQ(zeCommandListAppendBarrier(list, event, 1, &event), ZE_RESULT_SUCCESS);
  }
  EXPECT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS);
}

TEST_F(counter_events, may_be_destroyed_while_in_flight) {
  const auto list = in_order_list();
  const auto gate = regular_event();
  ze_event_counter_based_desc_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC;
  desc.flags = ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE | ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP;
  ze_event_handle_t event = nullptr;
  ASSERT_EQ(zeEventCounterBasedCreate(context_, device_, &desc, &event), ZE_RESULT_SUCCESS);
  append_behind(gate, list, event);
  ASSERT_EQ(zeEventDestroy(event), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
}

TEST_F(counter_events, outlive_the_list_that_signalled_them) {
  auto event = counter_event();
  ze_command_queue_desc_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  desc.flags = ZE_COMMAND_QUEUE_FLAG_IN_ORDER;
  ze_command_list_handle_t list = nullptr;
  ASSERT_EQ(zeCommandListCreateImmediate(context_, device_, &desc, &list), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListAppendSignalEvent(list, event), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListDestroy(list), ZE_RESULT_SUCCESS);
  const auto next = in_order_list();
  EXPECT_EQ(zeEventQueryStatus(event), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListAppendWaitOnEvents(next, 1, &event), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListHostSynchronize(next, forever), ZE_RESULT_SUCCESS);
}

TEST_F(counter_events, of_a_regular_list_are_incomplete_until_it_has_run) {
  const auto event = counter_event();
  const auto list = regular_list(ZE_COMMAND_LIST_FLAG_IN_ORDER);
  const auto on = queue();
  ASSERT_EQ(zeCommandListAppendSignalEvent(list, event), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
  EXPECT_EQ(zeEventHostSynchronize(event, 100'000), ZE_RESULT_NOT_READY);
  execute(on, list);
  EXPECT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS);
}

TEST_F(counter_events, are_armed_again_by_each_execution) {
  const auto event = counter_event();
  const auto gate = regular_event();
  const auto list = regular_list(ZE_COMMAND_LIST_FLAG_IN_ORDER);
  const auto on = queue();
  append_behind(gate, list, event);
  ASSERT_EQ(zeCommandListClose(list), ZE_RESULT_SUCCESS);
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(zeEventHostReset(gate), ZE_RESULT_SUCCESS);
    execute(on, list);
    EXPECT_EQ(zeEventQueryStatus(event), ZE_RESULT_NOT_READY) << "round " << round;
    ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeCommandQueueSynchronize(on, forever), ZE_RESULT_SUCCESS);
  }
}

TEST_F(counter_events, waits_of_a_list_executed_again_are_for_the_latest_run) {
  auto event = counter_event();
  const auto gate = regular_event();
  const auto producer = regular_list(ZE_COMMAND_LIST_FLAG_IN_ORDER);
  const auto consumer = regular_list(ZE_COMMAND_LIST_FLAG_IN_ORDER);
  const auto produce = queue();
  const auto consume = queue();
  append_behind(gate, producer, event);
  ASSERT_EQ(zeCommandListAppendWaitOnEvents(consumer, 1, &event), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(producer), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(consumer), ZE_RESULT_SUCCESS);
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(zeEventHostReset(gate), ZE_RESULT_SUCCESS);
    execute(produce, producer);
    execute(consume, consumer);
    EXPECT_EQ(zeCommandQueueSynchronize(consume, 100'000), ZE_RESULT_NOT_READY)
        << "round " << round;
    ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeCommandQueueSynchronize(consume, forever), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeCommandQueueSynchronize(produce, forever), ZE_RESULT_SUCCESS);
  }
}

TEST_F(counter_events, of_a_counter_based_pool_behave_alike) {
  const ze_event_pool_counter_based_exp_desc_t counter = {
      ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC, nullptr,
      ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_IMMEDIATE};
  const auto event = event_of(pool(1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE, &counter));
  const auto list = in_order_list();
  const auto gate = regular_event();
  EXPECT_EQ(zeEventQueryStatus(event), ZE_RESULT_SUCCESS);
  append_behind(gate, list, event);
  EXPECT_EQ(zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
  ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS);
}

TEST_F(counter_events, without_descriptor_are_made_by_the_zex_function) {
  ze_event_handle_t event = nullptr;
  ASSERT_EQ(zexCounterBasedEventCreate2(context_, device_, nullptr, &event), ZE_RESULT_SUCCESS);
  ze_event_counter_based_flags_t flags = 0;
  ze_event_scope_flags_t signal = 0;
  ze_event_scope_flags_t wait = 0;
  EXPECT_EQ(zeEventGetCounterBasedFlags(event, &flags), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventGetSignalScope(event, &signal), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventGetWaitScope(event, &wait), ZE_RESULT_SUCCESS);
  EXPECT_EQ(flags, 7u);
  EXPECT_EQ(signal, ZE_EVENT_SCOPE_FLAG_HOST);
  EXPECT_EQ(wait, ZE_EVENT_SCOPE_FLAG_DEVICE);
  EXPECT_EQ(zeEventDestroy(event), ZE_RESULT_SUCCESS);
}

TEST_F(counter_events, tell_their_counter_and_its_value) {
  const auto event = counter_event();
  const auto list = in_order_list();
  const auto gate = regular_event();
  append_behind(gate, list, event);
  uint64_t value = 0;
  uint64_t address = 0;
  ASSERT_EQ(zexEventGetDeviceAddress(event, &value, &address), ZE_RESULT_SUCCESS);
  const auto& counter = *reinterpret_cast<std::atomic<uint64_t>*>(address);
  EXPECT_LT(counter.load(), value);
  ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS);
  EXPECT_GE(counter.load(), value);
}

TEST_F(counter_events, with_external_storage_wait_for_the_users_memory) {
  auto* storage = shared_memory<uint64_t>(1);
  const ze_event_counter_based_external_sync_allocation_desc_t external = {
      ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_SYNC_ALLOCATION_DESC, nullptr, storage,
      storage, 5};
  auto event = counter_event(ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE, &external);
  const auto list = immediate_list();
  const auto passed = regular_event();
  EXPECT_EQ(zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
  ASSERT_EQ(zeCommandListAppendBarrier(list, passed, 1, &event), ZE_RESULT_SUCCESS);
  std::atomic_ref<uint64_t>{*storage}.store(4);
  EXPECT_EQ(zeEventHostSynchronize(event, 100'000), ZE_RESULT_NOT_READY);
  std::atomic_ref<uint64_t>{*storage}.store(5);
  EXPECT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(passed, forever), ZE_RESULT_SUCCESS);
}

TEST_F(counter_events, with_external_storage_leave_it_when_signalled) {
  auto* storage = shared_memory<uint64_t>(1);
  const ze_event_counter_based_external_sync_allocation_desc_t external = {
      ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_SYNC_ALLOCATION_DESC, nullptr, storage,
      storage, 5};
  const auto event = counter_event(ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE, &external);
  ASSERT_EQ(zeCommandListAppendSignalEvent(in_order_list(), event), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(*storage, 0u);
}

TEST_F(counter_events, with_aggregate_storage_add_up) {
  auto* storage = shared_memory<uint64_t>(1);
  const ze_event_counter_based_external_aggregate_storage_desc_t aggregate = {
      ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_AGGREGATE_STORAGE_DESC, nullptr, storage, 2,
      6};
  auto event = counter_event(ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE, &aggregate);
  const auto waiting = in_order_list();
  ASSERT_EQ(zeCommandListAppendWaitOnEvents(waiting, 1, &event), ZE_RESULT_SUCCESS);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
    const auto list = in_order_list();
    ASSERT_EQ(zeCommandListAppendSignalEvent(list, event), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
  }
  EXPECT_EQ(*storage, 6u);
  EXPECT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListHostSynchronize(waiting, forever), ZE_RESULT_SUCCESS);
}

TEST_F(counter_events, are_queried_without_harm_while_appends_replace_their_state) {
  const auto event = counter_event();
  std::atomic<bool> done{false};
  std::thread monitor([&] {
    while (!done) {
      const ze_result_t status = zeEventQueryStatus(event);
      EXPECT_TRUE(status == ZE_RESULT_SUCCESS || status == ZE_RESULT_NOT_READY);
    }
  });
  for (int round = 0; round < 300; ++round) {
    ze_command_queue_desc_t desc = {};
    desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    desc.flags = ZE_COMMAND_QUEUE_FLAG_IN_ORDER;
    ze_command_list_handle_t list = nullptr;
    ASSERT_EQ(zeCommandListCreateImmediate(context_, device_, &desc, &list), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeCommandListAppendSignalEvent(list, event), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeCommandListDestroy(list), ZE_RESULT_SUCCESS);
  }
  EXPECT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS);
  done = true;
  monitor.join();
}

}  // namespace
}  // namespace zevent::driver::test
