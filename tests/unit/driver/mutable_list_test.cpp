// Mutable command lists: ids, the events of commands, what executions in flight keep, and what is
// refused. Launches are in tests/unit/kernels.

#include "driver_fixture.hpp"

namespace zevent::driver::test {
namespace {

constexpr auto in_order = ZE_COMMAND_LIST_FLAG_IN_ORDER;
constexpr auto invalid = ZE_RESULT_ERROR_INVALID_ARGUMENT;

class mutable_lists : public driver_fixture {
 protected:
  ze_result_t update_signal(ze_command_list_handle_t list, uint64_t id, ze_event_handle_t event) {
    return zeCommandListUpdateMutableCommandSignalEventExp(list, id, event);
  }
  ze_result_t update_waits(ze_command_list_handle_t list, uint64_t id,
                           std::vector<ze_event_handle_t> events) {
    return zeCommandListUpdateMutableCommandWaitEventsExp(
        list, id, static_cast<uint32_t>(events.size()), events.data());
  }
  ze_result_t update(ze_command_list_handle_t list, const void* chain) {
    const ze_mutable_commands_exp_desc_t desc = {ZE_STRUCTURE_TYPE_MUTABLE_COMMANDS_EXP_DESC, chain,
                                                 0};
    return zeCommandListUpdateMutableCommandsExp(list, &desc);
  }
  void signal(ze_event_handle_t event) { ASSERT_EQ(zeEventHostSignal(event), ZE_RESULT_SUCCESS); }
  bool is_signalled(ze_event_handle_t event) {
    return zeEventQueryStatus(event) == ZE_RESULT_SUCCESS;
  }
};

TEST_F(mutable_lists, are_told_from_others) {
  ze_bool_t answer = 0;
  ASSERT_EQ(zeCommandListIsMutableExp(mutable_list(), &answer), ZE_RESULT_SUCCESS);
  EXPECT_EQ(answer, 1);
  for (const auto other : {regular_list(), in_order_list()}) {
    ASSERT_EQ(zeCommandListIsMutableExp(other, &answer), ZE_RESULT_SUCCESS);
    EXPECT_EQ(answer, 0);
  }
}

TEST_F(mutable_lists, are_reported_with_all_that_can_be_changed) {
  ze_mutable_command_list_exp_properties_t changes = {
      ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_PROPERTIES, nullptr, ~0u, 0};
  ze_device_properties_t properties = {};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
  properties.pNext = &changes;
  ASSERT_EQ(zeDeviceGetProperties(device_, &properties), ZE_RESULT_SUCCESS);
  EXPECT_EQ(changes.mutableCommandListFlags, 0u);
  EXPECT_EQ(changes.mutableCommandFlags, 0x7fu) << "all but graph arguments";
}

TEST_F(mutable_lists, give_each_command_an_id_of_its_own) {
  const auto list = mutable_list();
  const uint64_t first = next_id(list);
  ASSERT_EQ(zeCommandListAppendBarrier(list, nullptr, 0, nullptr), ZE_RESULT_SUCCESS);
  const uint64_t second = next_id(list);
  EXPECT_NE(first, second);
}

TEST_F(mutable_lists, signal_the_new_event_and_leave_the_old_one) {
  const auto events = pool(2);
  const auto old = event_of(events, 0), fresh = event_of(events, 1);
  const auto list = mutable_list();
  const uint64_t id = next_id(list, ZE_MUTABLE_COMMAND_EXP_FLAG_SIGNAL_EVENT);
  ASSERT_EQ(zeCommandListAppendBarrier(list, old, 0, nullptr), ZE_RESULT_SUCCESS);
  close_list(list);
  const auto on = queue();
  execute_and_wait(on, list);
  EXPECT_TRUE(is_signalled(old));
  EXPECT_FALSE(is_signalled(fresh));
  ASSERT_EQ(zeEventHostReset(old), ZE_RESULT_SUCCESS);

  ASSERT_EQ(update_signal(list, id, fresh), ZE_RESULT_SUCCESS);
  close_list(list);
  execute_and_wait(on, list);
  EXPECT_FALSE(is_signalled(old));
  EXPECT_TRUE(is_signalled(fresh));
  ASSERT_EQ(zeEventHostReset(fresh), ZE_RESULT_SUCCESS);

  ASSERT_EQ(update_signal(list, id, nullptr), ZE_RESULT_SUCCESS);
  close_list(list);
  execute_and_wait(on, list);
  EXPECT_FALSE(is_signalled(old));
  EXPECT_FALSE(is_signalled(fresh)) << "no event: none is signalled";

  ASSERT_EQ(update_signal(list, id, old), ZE_RESULT_SUCCESS) << "and there can be one again";
  close_list(list);
  execute_and_wait(on, list);
  EXPECT_TRUE(is_signalled(old));
}

TEST_F(mutable_lists, wait_for_the_new_events_and_not_for_emptied_slots) {
  const auto events = pool(4);
  const auto a = event_of(events, 0), b = event_of(events, 1), c = event_of(events, 2);
  const auto done = event_of(events, 3);
  const auto list = mutable_list();
  const uint64_t id = next_id(list, ZE_MUTABLE_COMMAND_EXP_FLAG_WAIT_EVENTS);
  ze_event_handle_t waits[] = {a, b};
  ASSERT_EQ(zeCommandListAppendBarrier(list, done, 2, waits), ZE_RESULT_SUCCESS);
  close_list(list);
  const auto on = queue();

  ASSERT_EQ(update_waits(list, id, {c, nullptr}), ZE_RESULT_SUCCESS);
  close_list(list);
  execute(on, list);
  signal(a);
  signal(b);
  EXPECT_EQ(zeEventHostSynchronize(done, 1'000'000), ZE_RESULT_NOT_READY) << "it waits for c";
  signal(c);
  ASSERT_EQ(zeCommandQueueSynchronize(on, forever), ZE_RESULT_SUCCESS);
  EXPECT_TRUE(is_signalled(done));
  for (const auto each : {a, b, c, done}) ASSERT_EQ(zeEventHostReset(each), ZE_RESULT_SUCCESS);

  for (const uint32_t count : {2u, 0u}) {
    ASSERT_EQ(update_waits(list, id, {a, b}), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeCommandListUpdateMutableCommandWaitEventsExp(list, id, count, nullptr),
              ZE_RESULT_SUCCESS);
    close_list(list);
    execute_and_wait(on, list);
    EXPECT_TRUE(is_signalled(done)) << "no array: it waits for nothing";
    ASSERT_EQ(zeEventHostReset(done), ZE_RESULT_SUCCESS);
  }
}

TEST_F(mutable_lists, are_closed_again_before_they_are_executed) {
  const auto list = mutable_list();
  const uint64_t id = next_id(list);
  ASSERT_EQ(zeCommandListAppendBarrier(list, regular_event(), 0, nullptr), ZE_RESULT_SUCCESS);
  close_list(list);
  const auto on = queue();
  ASSERT_EQ(update_signal(list, id, nullptr), ZE_RESULT_SUCCESS);
  ze_command_list_handle_t executed = list;
  EXPECT_EQ(zeCommandQueueExecuteCommandLists(on, 1, &executed, nullptr), invalid);
  close_list(list);
  execute_and_wait(on, list);
}

TEST_F(mutable_lists, take_no_more_commands_while_they_are_changed) {
  auto* numbers = shared_memory<uint32_t>(2);
  numbers[0] = 7;
  const auto list = mutable_list();
  const uint64_t id = next_id(list);
  ASSERT_EQ(zeCommandListAppendBarrier(list, regular_event(), 0, nullptr), ZE_RESULT_SUCCESS);
  close_list(list);
  ASSERT_EQ(update_signal(list, id, nullptr), ZE_RESULT_SUCCESS);
  EXPECT_EQ(copy(list, &numbers[1], &numbers[0]), ZE_RESULT_SUCCESS);
  close_list(list);
  execute_and_wait(queue(), list);
  EXPECT_EQ(numbers[1], 0u) << "as after any close: it is taken and never reached";
}

TEST_F(mutable_lists, executions_in_flight_keep_the_events_they_had) {
  const auto events = pool(3);
  const auto gate = event_of(events, 0), old = event_of(events, 1), fresh = event_of(events, 2);
  auto wait = gate;
  const auto list = mutable_list();
  const uint64_t id = next_id(list);
  ASSERT_EQ(zeCommandListAppendBarrier(list, old, 1, &wait), ZE_RESULT_SUCCESS);
  close_list(list);
  const auto on = queue();
  execute(on, list);
  ASSERT_EQ(update_signal(list, id, fresh), ZE_RESULT_SUCCESS);
  ASSERT_EQ(update_waits(list, id, {nullptr}), ZE_RESULT_SUCCESS);
  close_list(list);
  EXPECT_EQ(zeEventHostSynchronize(old, 1'000'000), ZE_RESULT_NOT_READY);
  signal(gate);
  ASSERT_EQ(zeCommandQueueSynchronize(on, forever), ZE_RESULT_SUCCESS);
  EXPECT_TRUE(is_signalled(old));
  EXPECT_FALSE(is_signalled(fresh));
  execute_and_wait(on, list);
  EXPECT_TRUE(is_signalled(fresh));
}

TEST_F(mutable_lists, a_new_counter_based_event_follows_the_executions_from_then_on) {
  const auto gate = regular_event();
  auto wait = gate;
  const auto old = counter_event(), fresh = counter_event();
  const auto list = mutable_list(in_order);
  const uint64_t id = next_id(list);
  ASSERT_EQ(zeCommandListAppendBarrier(list, old, 1, &wait), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListAppendBarrier(list, nullptr, 0, nullptr), ZE_RESULT_SUCCESS);
  close_list(list);
  const auto on = queue();
  signal(gate);
  execute_and_wait(on, list);
  EXPECT_TRUE(is_signalled(old));

  ASSERT_EQ(update_signal(list, id, fresh), ZE_RESULT_SUCCESS);
  close_list(list);
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(zeEventHostReset(gate), ZE_RESULT_SUCCESS);
    execute(on, list);
    EXPECT_FALSE(is_signalled(fresh)) << "round " << round;
    EXPECT_TRUE(is_signalled(old)) << "the list has nothing to do with it any more";
    signal(gate);
    ASSERT_EQ(zeEventHostSynchronize(fresh, forever), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeCommandQueueSynchronize(on, forever), ZE_RESULT_SUCCESS);
  }
}

TEST_F(mutable_lists, a_counter_based_event_that_was_taken_out_before_any_execution_is_complete) {
  const auto old = counter_event();
  const auto list = mutable_list(in_order);
  const uint64_t id = next_id(list);
  ASSERT_EQ(zeCommandListAppendBarrier(list, old, 0, nullptr), ZE_RESULT_SUCCESS);
  close_list(list);
  EXPECT_FALSE(is_signalled(old));
  ASSERT_EQ(update_signal(list, id, nullptr), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(old, forever), ZE_RESULT_SUCCESS);
}

TEST_F(mutable_lists, whoever_waits_for_a_command_is_released_though_its_event_was_taken_out) {
  auto event = counter_event();
  const auto producer = mutable_list(in_order);
  const uint64_t id = next_id(producer);
  ASSERT_EQ(zeCommandListAppendBarrier(producer, event, 0, nullptr), ZE_RESULT_SUCCESS);
  close_list(producer);
  const auto consumer = regular_list();
  const auto consumed = regular_event();
  ASSERT_EQ(zeCommandListAppendBarrier(consumer, consumed, 1, &event), ZE_RESULT_SUCCESS);
  close_list(consumer);
  ASSERT_EQ(update_signal(producer, id, nullptr), ZE_RESULT_SUCCESS);
  close_list(producer);
  const auto on = queue(), other = queue();
  execute(on, producer);
  execute_and_wait(other, consumer);
  EXPECT_TRUE(is_signalled(consumed)) << "the wait is bound to the command, not to the event";
}

TEST_F(mutable_lists, a_wait_for_a_counter_based_event_binds_when_it_is_updated) {
  const auto gate = regular_event();
  auto wait = gate;
  auto first = counter_event(), second = counter_event();
  const auto producer = in_order_list();
  const auto list = mutable_list(in_order);
  const uint64_t id = next_id(list);
  const auto done = counter_event();
  ASSERT_EQ(zeCommandListAppendBarrier(list, done, 1, &first), ZE_RESULT_SUCCESS);
  close_list(list);
  ASSERT_EQ(zeCommandListAppendBarrier(producer, second, 1, &wait), ZE_RESULT_SUCCESS);
  ASSERT_EQ(update_waits(list, id, {second}), ZE_RESULT_SUCCESS);
  close_list(list);
  const auto on = queue();
  execute(on, list);
  EXPECT_EQ(zeEventHostSynchronize(done, 1'000'000), ZE_RESULT_NOT_READY);
  signal(gate);
  EXPECT_EQ(zeEventHostSynchronize(done, forever), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandQueueSynchronize(on, forever), ZE_RESULT_SUCCESS);
}

TEST_F(mutable_lists, move_along_with_the_list_whose_event_they_have_come_to_wait_for) {
  const auto gate = regular_event();
  auto wait = gate;
  auto idle = counter_event(), produced = counter_event();
  const auto producer = regular_list(in_order);
  ASSERT_EQ(zeCommandListAppendBarrier(producer, produced, 1, &wait), ZE_RESULT_SUCCESS);
  close_list(producer);
  const auto consumer = mutable_list(in_order);
  const uint64_t id = next_id(consumer);
  const auto consumed = counter_event();
  ASSERT_EQ(zeCommandListAppendBarrier(consumer, consumed, 1, &idle), ZE_RESULT_SUCCESS);
  close_list(consumer);
  ASSERT_EQ(update_waits(consumer, id, {produced}), ZE_RESULT_SUCCESS);
  close_list(consumer);
  const auto on = queue(), other = queue();
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(zeEventHostReset(gate), ZE_RESULT_SUCCESS);
    execute(on, producer);
    execute(other, consumer);
    EXPECT_EQ(zeEventHostSynchronize(consumed, 1'000'000), ZE_RESULT_NOT_READY) << round;
    signal(gate);
    ASSERT_EQ(zeCommandQueueSynchronize(other, forever), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeCommandQueueSynchronize(on, forever), ZE_RESULT_SUCCESS);
  }
}

TEST_F(mutable_lists, publish_each_execution_through_a_new_shared_event) {
  constexpr auto flags =
      ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE | ZE_EVENT_COUNTER_BASED_FLAG_IPC;
  const auto gate = regular_event();
  auto wait = gate;
  const auto old = counter_event(flags), fresh = counter_event(flags);
  const auto list = mutable_list(in_order);
  const uint64_t id = next_id(list);
  ASSERT_EQ(zeCommandListAppendBarrier(list, old, 1, &wait), ZE_RESULT_SUCCESS);
  close_list(list);
  ASSERT_EQ(update_signal(list, id, fresh), ZE_RESULT_SUCCESS);
  close_list(list);
  EXPECT_EQ(zeEventHostSynchronize(old, forever), ZE_RESULT_SUCCESS) << "nothing signals it";
  const auto on = queue();
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(zeEventHostReset(gate), ZE_RESULT_SUCCESS);
    execute(on, list);
    EXPECT_FALSE(is_signalled(fresh));
    signal(gate);
    ASSERT_EQ(zeEventHostSynchronize(fresh, forever), ZE_RESULT_SUCCESS) << round;
    ASSERT_EQ(zeCommandQueueSynchronize(on, forever), ZE_RESULT_SUCCESS);
  }
}

TEST_F(mutable_lists, change_commands_of_every_kind_and_start_anew_after_a_reset) {
  auto* numbers = shared_memory<uint32_t>(2);
  numbers[0] = 5;
  const auto events = pool(2);
  const auto old = event_of(events, 0), fresh = event_of(events, 1);
  const auto list = mutable_list();
  const uint64_t id = next_id(list);
  ASSERT_EQ(copy(list, &numbers[1], &numbers[0], old), ZE_RESULT_SUCCESS);
  close_list(list);
  ASSERT_EQ(update_signal(list, id, fresh), ZE_RESULT_SUCCESS);
  close_list(list);
  const auto on = queue();
  execute_and_wait(on, list);
  EXPECT_EQ(numbers[1], 5u);
  EXPECT_TRUE(is_signalled(fresh));
  ASSERT_EQ(zeCommandListReset(list), ZE_RESULT_SUCCESS);
  close_list(list);
  EXPECT_EQ(update_signal(list, id, old), invalid) << "the command is gone, and its id";
}

TEST_F(mutable_lists, the_last_id_that_was_asked_for_is_the_commands) {
  const auto list = mutable_list();
  const uint64_t unused = next_id(list);
  const uint64_t used = next_id(list);
  ASSERT_EQ(zeCommandListAppendBarrier(list, regular_event(), 0, nullptr), ZE_RESULT_SUCCESS);
  close_list(list);
  EXPECT_EQ(update_signal(list, unused, nullptr), invalid);
  EXPECT_EQ(update_signal(list, used, nullptr), ZE_RESULT_SUCCESS);
}

TEST_F(mutable_lists, refuse_what_the_id_was_not_asked_for) {
  const auto events = pool(3);
  const auto a = event_of(events, 0), b = event_of(events, 1);
  auto wait = a;
  const auto list = mutable_list();
  const uint64_t signals = next_id(list, ZE_MUTABLE_COMMAND_EXP_FLAG_SIGNAL_EVENT);
  ASSERT_EQ(zeCommandListAppendBarrier(list, b, 1, &wait), ZE_RESULT_SUCCESS);
  const uint64_t waits = next_id(list, ZE_MUTABLE_COMMAND_EXP_FLAG_WAIT_EVENTS);
  ASSERT_EQ(zeCommandListAppendBarrier(list, b, 1, &wait), ZE_RESULT_SUCCESS);
  close_list(list);
  EXPECT_EQ(update_waits(list, signals, {b}), invalid);
  EXPECT_EQ(update_signal(list, waits, a), invalid);
  ze_command_list_handle_t executed = list;
  EXPECT_EQ(zeCommandQueueExecuteCommandLists(queue(), 1, &executed, nullptr), ZE_RESULT_SUCCESS)
      << "what was refused has changed nothing, not even that the list is closed";
  signal(a);
}

TEST_F(mutable_lists, refuse_ids_that_name_no_command_and_lists_that_are_not_mutable) {
  const auto list = mutable_list();
  const uint64_t id = next_id(list);
  EXPECT_EQ(update_signal(list, id, nullptr), invalid) << "it is not closed";
  ASSERT_EQ(zeCommandListAppendBarrier(list, nullptr, 0, nullptr), ZE_RESULT_SUCCESS);
  const uint64_t unused = next_id(list);
  close_list(list);
  for (const uint64_t wrong : {uint64_t{0}, unused, unused + 1, UINT64_MAX}) {
    EXPECT_EQ(update_signal(list, wrong, nullptr), invalid) << wrong;
    EXPECT_EQ(update_waits(list, wrong, {}), invalid) << wrong;
  }
  const ze_mutable_command_id_exp_desc_t desc = {ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_ID_EXP_DESC,
                                                 nullptr, 0};
  uint64_t out = 0;
  EXPECT_EQ(zeCommandListGetNextCommandIdExp(list, &desc, &out), invalid) << "it is closed";
  for (const auto other : {regular_list(), in_order_list()}) {
    EXPECT_EQ(zeCommandListGetNextCommandIdExp(other, &desc, &out), invalid);
    EXPECT_EQ(update(other, nullptr), invalid);
    EXPECT_EQ(update_signal(other, id, nullptr), invalid);
    EXPECT_EQ(update_waits(other, id, {}), invalid);
    ze_kernel_handle_t none = nullptr;
    uint64_t some = id;
    EXPECT_EQ(zeCommandListUpdateMutableCommandKernelsExp(other, 1, &some, &none), invalid);
  }
}

TEST_F(mutable_lists, refuse_events_of_another_kind) {
  ze_event_desc_t wide = {};
  wide.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
  wide.signal = ZE_EVENT_SCOPE_FLAG_DEVICE;
  ze_event_handle_t other_scope = nullptr;
  ASSERT_EQ(zeEventCreate(pool(1), &wide, &other_scope), ZE_RESULT_SUCCESS);
  at_end([=] { zeEventDestroy(other_scope); });
  const auto timed =
      regular_event(ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
  const auto plain = regular_event(), alike = regular_event();
  auto wait = plain;
  const auto list = mutable_list(in_order);
  const uint64_t id = next_id(list);
  ASSERT_EQ(zeCommandListAppendBarrier(list, plain, 1, &wait), ZE_RESULT_SUCCESS);
  const uint64_t no_events = next_id(list);
  ASSERT_EQ(zeCommandListAppendBarrier(list, nullptr, 0, nullptr), ZE_RESULT_SUCCESS);
  close_list(list);
  for (const auto other : {other_scope, timed, counter_event()}) {
    EXPECT_EQ(update_signal(list, id, other), invalid);
    EXPECT_EQ(update_waits(list, id, {other}), invalid);
  }
  EXPECT_EQ(update_signal(list, no_events, plain), invalid) << "it was appended with no event";
  EXPECT_EQ(update_signal(list, no_events, nullptr), ZE_RESULT_SUCCESS);
  EXPECT_EQ(update_signal(list, id, alike), ZE_RESULT_SUCCESS);
}

TEST_F(mutable_lists, refuse_another_number_of_wait_events) {
  const auto events = pool(3);
  const auto a = event_of(events, 0), b = event_of(events, 1), c = event_of(events, 2);
  ze_event_handle_t waits[] = {a, b};
  const auto list = mutable_list();
  const uint64_t id = next_id(list);
  ASSERT_EQ(zeCommandListAppendBarrier(list, nullptr, 2, waits), ZE_RESULT_SUCCESS);
  close_list(list);
  EXPECT_EQ(update_waits(list, id, {a}), ZE_RESULT_ERROR_INVALID_SIZE);
  EXPECT_EQ(update_waits(list, id, {a, b, c}), ZE_RESULT_ERROR_INVALID_SIZE);
  EXPECT_EQ(zeCommandListUpdateMutableCommandWaitEventsExp(list, id, 1, nullptr),
            ZE_RESULT_ERROR_INVALID_SIZE);
}

TEST_F(mutable_lists, refuse_handles_of_something_else) {
  const auto list = mutable_list();
  const uint64_t id = next_id(list);
  auto event = regular_event();
  ASSERT_EQ(zeCommandListAppendBarrier(list, event, 1, &event), ZE_RESULT_SUCCESS);
  close_list(list);
  const auto not_an_event = reinterpret_cast<ze_event_handle_t>(list);
  EXPECT_EQ(update_signal(list, id, not_an_event), invalid);
  EXPECT_EQ(update_waits(list, id, {not_an_event}), invalid);
}

TEST_F(mutable_lists, refuse_flags_that_do_not_exist_and_graphs) {
  const auto list = mutable_list();
  uint64_t id = 0;
  ze_mutable_command_id_exp_desc_t desc = {ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_ID_EXP_DESC, nullptr,
                                           0x100};
  EXPECT_EQ(zeCommandListGetNextCommandIdExp(list, &desc, &id),
            ZE_RESULT_ERROR_INVALID_ENUMERATION);
  desc.flags = ZE_MUTABLE_COMMAND_EXP_FLAG_GRAPH_ARGUMENTS;
  EXPECT_EQ(zeCommandListGetNextCommandIdExp(list, &desc, &id),
            ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION);
  desc.flags = ZE_MUTABLE_COMMAND_EXP_FLAG_KERNEL_INSTRUCTION;
  EXPECT_EQ(zeCommandListGetNextCommandIdExp(list, &desc, &id), invalid) << "of no kernels";
  const ze_mutable_command_list_exp_desc_t wrong = {ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_DESC,
                                                    nullptr, 2};
  const ze_command_list_desc_t list_desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, &wrong, 0, 0};
  ze_command_list_handle_t made = nullptr;
  EXPECT_EQ(zeCommandListCreate(context_, device_, &list_desc, &made),
            ZE_RESULT_ERROR_INVALID_ENUMERATION);
}

TEST_F(mutable_lists, refuse_descriptors_that_do_not_fit_the_command) {
  const auto list = mutable_list();
  const uint64_t id = next_id(list);
  ASSERT_EQ(zeCommandListAppendBarrier(list, nullptr, 0, nullptr), ZE_RESULT_SUCCESS);
  close_list(list);
  const ze_mutable_global_offset_exp_desc_t offset = {
      ZE_STRUCTURE_TYPE_MUTABLE_GLOBAL_OFFSET_EXP_DESC, nullptr, id, 1, 1, 1};
  EXPECT_EQ(update(list, &offset), invalid) << "a barrier has no offset";
  const ze_mutable_graph_argument_exp_desc_t graph = {
      ZE_STRUCTURE_TYPE_MUTABLE_GRAPH_ARGUMENT_EXP_DESC, nullptr, id, 0, nullptr};
  EXPECT_EQ(update(list, &graph), invalid);
  const ze_event_desc_t stranger = {ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 0, 0, 0};
  EXPECT_EQ(update(list, &stranger), invalid);
  EXPECT_EQ(update(list, nullptr), ZE_RESULT_SUCCESS) << "nothing to change is no error";
}

TEST_F(mutable_lists, ids_are_asked_for_by_many_threads) {
  const auto list = mutable_list();
  std::atomic<uint64_t> sum{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 100; ++round) sum += next_id(list);
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(sum, 400u * 401u / 2) << "no id was given twice";
}

}  // namespace
}  // namespace zevent::driver::test
