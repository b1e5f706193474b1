// What misuse returns: each row is what Intel's driver returns for it.

#include <cstring>

#include "api/zex_api.h"
#include "driver_fixture.hpp"

namespace zevent::driver::test {
namespace {

class misuse : public driver_fixture {
 protected:
  ze_result_t create(ze_event_counter_based_flags_t flags, const void* next = nullptr) {
    ze_event_counter_based_desc_t desc = {};
    desc.stype = ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC;
    desc.pNext = next;
    desc.flags = flags;
    ze_event_handle_t made = nullptr;
    const ze_result_t result = zeEventCounterBasedCreate(context_, device_, &desc, &made);
    if (result == ZE_RESULT_SUCCESS) zeEventDestroy(made);
    return result;
  }

  ze_result_t create_external(uint64_t* device_address, uint64_t* host_address, uint64_t value) {
    const ze_event_counter_based_external_sync_allocation_desc_t external = {
        ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_SYNC_ALLOCATION_DESC, nullptr,
        device_address, host_address, value};
    return create(ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE, &external);
  }

  ze_result_t create_aggregate(uint64_t* address, uint64_t increment, uint64_t value) {
    const ze_event_counter_based_external_aggregate_storage_desc_t aggregate = {
        ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_AGGREGATE_STORAGE_DESC, nullptr, address,
        increment, value};
    return create(ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE, &aggregate);
  }
};

TEST_F(misuse, host_reset_and_host_signal_of_a_counter_based_event_are_unsupported) {
  const auto event = counter_event();
  EXPECT_EQ(zeEventHostReset(event), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
  EXPECT_EQ(zeEventHostSignal(event), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
}

TEST_F(misuse, an_append_that_resets_a_counter_based_event_is_invalid) {
  EXPECT_EQ(zeCommandListAppendEventReset(in_order_list(), counter_event()),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(misuse, a_counter_based_signal_on_a_list_that_is_not_in_order_is_invalid) {
  EXPECT_EQ(zeCommandListAppendSignalEvent(immediate_list(), counter_event()),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(zeCommandListAppendBarrier(regular_list(), counter_event(), 0, nullptr),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(misuse, a_counter_based_signal_on_the_wrong_kind_of_list_is_invalid) {
  const auto immediate = counter_event(ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE);
  const auto regular = counter_event(ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE);
  const auto by_default = counter_event(0);
  const auto in_order_regular = regular_list(ZE_COMMAND_LIST_FLAG_IN_ORDER);
  EXPECT_EQ(zeCommandListAppendSignalEvent(in_order_regular, immediate),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(zeCommandListAppendSignalEvent(in_order_regular, by_default),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(zeCommandListAppendSignalEvent(in_order_list(), regular),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(zeCommandListAppendSignalEvent(in_order_list(), immediate), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListAppendSignalEvent(in_order_regular, regular), ZE_RESULT_SUCCESS);
}

TEST_F(misuse, sharing_with_timestamps_or_both_timestamps_is_invalid) {
  EXPECT_EQ(create(ZE_EVENT_COUNTER_BASED_FLAG_IPC | ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(create(ZE_EVENT_COUNTER_BASED_FLAG_IPC | ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(create(ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP |
                   ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(misuse, unknown_flag_bits_are_an_invalid_enumeration) {
  EXPECT_EQ(create(0x80), ZE_RESULT_ERROR_INVALID_ENUMERATION);
  zex_counter_based_event_desc_t desc = {};
  desc.stype = ZEX_STRUCTURE_TYPE_COUNTER_BASED_EVENT_DESC;
  desc.flags = 0x80;
  ze_event_handle_t made = nullptr;
  EXPECT_EQ(zexCounterBasedEventCreate2(context_, device_, &desc, &made),
            ZE_RESULT_ERROR_INVALID_ENUMERATION);
  const ze_event_pool_desc_t pool_desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr, 0x10, 1};
  ze_event_pool_handle_t pool = nullptr;
  EXPECT_EQ(zeEventPoolCreate(context_, &pool_desc, 0, nullptr, &pool),
            ZE_RESULT_ERROR_INVALID_ENUMERATION);
}

TEST_F(misuse, an_event_that_may_not_be_shared_gives_no_handle) {
  ze_ipc_event_counter_based_handle_t handle = {};
  EXPECT_EQ(zeEventCounterBasedGetIpcHandle(regular_event(), &handle),
            ZE_RESULT_ERROR_INVALID_ARGUMENT)
      << "not counter-based";
  EXPECT_EQ(zeEventCounterBasedGetIpcHandle(counter_event(), &handle),
            ZE_RESULT_ERROR_INVALID_ARGUMENT)
      << "not made for sharing";
  EXPECT_EQ(zeEventCounterBasedGetIpcHandle(
                counter_event(ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP), &handle),
            ZE_RESULT_ERROR_INVALID_ARGUMENT)
      << "with timestamps";
  auto* storage = shared_memory<uint64_t>(1);
  const ze_event_counter_based_external_sync_allocation_desc_t external = {
      ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_SYNC_ALLOCATION_DESC, nullptr, storage,
      storage, 1};
  EXPECT_EQ(zeEventCounterBasedGetIpcHandle(
                counter_event(ZE_EVENT_COUNTER_BASED_FLAG_IPC, &external), &handle),
            ZE_RESULT_ERROR_INVALID_ARGUMENT)
      << "external memory";
}

TEST_F(misuse, what_is_no_handle_of_an_event_cannot_be_opened) {
  zex_ipc_counter_based_event_handle_t handle = {};
  ze_event_handle_t opened = nullptr;
  EXPECT_EQ(zexCounterBasedEventOpenIpcHandle(nullptr, handle, &opened),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(zexCounterBasedEventOpenIpcHandle(context_, handle, nullptr),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(zexCounterBasedEventOpenIpcHandle(context_, handle, &opened),
            ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)
      << "all zero";
  std::memset(handle.data, 0xa5, sizeof handle.data);
  EXPECT_EQ(zexCounterBasedEventOpenIpcHandle(context_, handle, &opened),
            ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)
      << "garbage";
}

TEST_F(misuse, an_event_without_a_counter_value_tells_no_address) {
  uint64_t value = 0;
  uint64_t address = 0;
  EXPECT_EQ(zexEventGetDeviceAddress(counter_event(), &value, &address),
            ZE_RESULT_ERROR_INVALID_ARGUMENT)
      << "not signalled yet";
  EXPECT_EQ(zexEventGetDeviceAddress(regular_event(ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP), &value,
                                     &address),
            ZE_RESULT_ERROR_INVALID_ARGUMENT)
      << "of a timestamp pool";
  EXPECT_EQ(zeEventCounterBasedGetDeviceAddress(counter_event(), &value, &address),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(misuse, storage_without_address_or_increment_or_beyond_the_maximum_is_invalid) {
  auto* storage = shared_memory<uint64_t>(1);
  uint64_t most = 0;
  ASSERT_EQ(zeDeviceGetCounterBasedEventMaxValue(device_, &most), ZE_RESULT_SUCCESS);
  EXPECT_EQ(create_external(nullptr, storage, 1), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(create_external(storage, storage, most + 1), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(create_aggregate(storage, 0, 1), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(create_aggregate(nullptr, 1, 1), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(create_aggregate(storage, 1, most + 1), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(create_external(storage, storage, most), ZE_RESULT_SUCCESS);
  EXPECT_EQ(create_aggregate(storage, 1, most), ZE_RESULT_SUCCESS);
}

TEST_F(misuse, a_shared_counter_based_pool_is_unsupported) {
  const ze_event_pool_counter_based_exp_desc_t counter = {
      ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC, nullptr, 0};
  const ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, &counter,
                                     ZE_EVENT_POOL_FLAG_IPC, 1};
  ze_event_pool_handle_t made = nullptr;
  EXPECT_EQ(zeEventPoolCreate(context_, &desc, 0, nullptr, &made),
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
}

TEST_F(misuse, a_pool_that_is_not_shared_gives_no_handle) {
  ze_ipc_event_pool_handle_t handle = {};
  EXPECT_EQ(zeEventPoolGetIpcHandle(pool(1), &handle), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
}

TEST_F(misuse, an_index_beyond_the_pool_is_invalid) {
  ze_event_desc_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
  desc.index = 2;
  ze_event_handle_t made = nullptr;
  EXPECT_EQ(zeEventCreate(pool(2), &desc, &made), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(misuse, a_null_wait_event_is_invalid) {
  ze_event_handle_t none = nullptr;
  EXPECT_EQ(zeCommandListAppendBarrier(in_order_list(), nullptr, 1, &none),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(zeCommandListAppendBarrier(in_order_list(), nullptr, 1, nullptr),
            ZE_RESULT_ERROR_INVALID_SIZE);
}

TEST_F(misuse, a_fence_of_another_queue_is_no_synchronization_object) {
  const auto on = queue();
  const ze_fence_desc_t desc = {ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, 0};
  ze_fence_handle_t others = nullptr;
  ASSERT_EQ(zeFenceCreate(queue(), &desc, &others), ZE_RESULT_SUCCESS);
  auto list = regular_list();
  ASSERT_EQ(zeCommandListClose(list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandQueueExecuteCommandLists(on, 1, &list, others),
            ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
  EXPECT_EQ(zeFenceDestroy(others), ZE_RESULT_SUCCESS);
}

TEST_F(misuse, a_host_query_without_a_host_address_is_no_synchronization_object) {
  auto* storage = shared_memory<uint64_t>(1);
  const ze_event_counter_based_external_sync_allocation_desc_t external = {
      ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_SYNC_ALLOCATION_DESC, nullptr, storage,
      nullptr, 1};
  const auto event = counter_event(ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE, &external);
  EXPECT_EQ(zeEventQueryStatus(event), ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
  EXPECT_EQ(zeEventHostSynchronize(event, 0), ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
}

TEST_F(misuse, external_interrupts_are_for_counter_based_events_only) {
  const ze_event_sync_mode_desc_t mode = {ZE_STRUCTURE_TYPE_EVENT_SYNC_MODE_DESC, nullptr,
                                          ZE_EVENT_SYNC_MODE_FLAG_EXTERNAL_INTERRUPT_WAIT, 1};
  ze_event_desc_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
  desc.pNext = &mode;
  ze_event_handle_t made = nullptr;
  EXPECT_EQ(zeEventCreate(pool(1), &desc, &made), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(misuse, lists_are_closed_before_they_are_executed) {
  auto list = regular_list();
  const auto on = queue();
  EXPECT_EQ(zeCommandQueueExecuteCommandLists(on, 1, &list, nullptr),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  ASSERT_EQ(zeCommandListClose(list), ZE_RESULT_SUCCESS);
  auto immediate = immediate_list();
  EXPECT_EQ(zeCommandQueueExecuteCommandLists(on, 1, &immediate, nullptr),
            ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
  EXPECT_EQ(zeCommandListHostSynchronize(list, 0), ZE_RESULT_ERROR_INVALID_ARGUMENT)
      << "only immediate lists are synchronised";
}

TEST_F(misuse, what_is_appended_to_a_closed_list_is_never_reached) {
  const auto list = regular_list();
  const auto event = regular_event();
  auto* numbers = shared_memory<uint32_t>(3);
  numbers[0] = 6;
  ASSERT_EQ(copy(list, &numbers[1], &numbers[0]), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(copy(list, &numbers[2], &numbers[0], event), ZE_RESULT_SUCCESS);
  execute(queue(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS), list);
  EXPECT_EQ(numbers[1], 6u);
  EXPECT_EQ(numbers[2], 0u);
  EXPECT_EQ(zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
}

TEST_F(misuse, unknown_flags_of_a_list_are_refused_but_not_the_end_of_the_enumeration) {
  ze_command_list_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, 0, 0x40};
  ze_command_list_handle_t list = nullptr;
  EXPECT_EQ(zeCommandListCreate(context_, device_, &desc, &list),
            ZE_RESULT_ERROR_INVALID_ENUMERATION);
  desc.flags = ZE_COMMAND_LIST_FLAG_IN_ORDER | ZE_COMMAND_LIST_FLAG_RELAXED_ORDERING;
  EXPECT_EQ(zeCommandListCreate(context_, device_, &desc, &list),
            ZE_RESULT_ERROR_INVALID_ENUMERATION);
  desc.flags = ZE_COMMAND_LIST_FLAG_FORCE_UINT32;
  ASSERT_EQ(zeCommandListCreate(context_, device_, &desc, &list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListDestroy(list), ZE_RESULT_SUCCESS);
}

TEST_F(misuse, null_handles_and_pointers_are_told_apart) {
  EXPECT_EQ(zeEventQueryStatus(nullptr), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  EXPECT_EQ(zeEventHostSynchronize(nullptr, 0), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  EXPECT_EQ(zeCommandListClose(nullptr), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  EXPECT_EQ(zeEventPoolCreate(context_, nullptr, 0, nullptr, nullptr),
            ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  EXPECT_EQ(zeDeviceGetProperties(device_, nullptr), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  EXPECT_EQ(
      zeCommandListAppendMemoryCopy(in_order_list(), nullptr, nullptr, 1, nullptr, 0, nullptr),
      ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

TEST_F(misuse, a_host_function_that_is_none_is_refused) {
  EXPECT_EQ(zeCommandListAppendHostFunction(in_order_list(), nullptr, nullptr, nullptr, nullptr, 0,
                                            nullptr),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(misuse, a_handle_of_another_kind_is_refused) {
  EXPECT_EQ(zeEventQueryStatus(reinterpret_cast<ze_event_handle_t>(device_)),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(zeCommandListClose(reinterpret_cast<ze_command_list_handle_t>(context_)),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace zevent::driver::test
