#pragma once

#include <gtest/gtest.h>
#include <level_zero/ze_api.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

namespace zevent::driver::test {

inline constexpr uint64_t forever = UINT64_MAX;

// A driver, its devices and a context, and short ways to make what a test needs. What is made
// through it is destroyed with it.
class driver_fixture : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(zeInit(0), ZE_RESULT_SUCCESS);
    uint32_t count = 1;
    ASSERT_EQ(zeDriverGet(&count, &driver_), ZE_RESULT_SUCCESS);
    count = 1;
    ASSERT_EQ(zeDeviceGet(driver_, &count, &device_), ZE_RESULT_SUCCESS);
    const ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    ASSERT_EQ(zeContextCreate(driver_, &desc, &context_), ZE_RESULT_SUCCESS);
  }

  void TearDown() override {
    while (!clean_up_.empty()) {
      clean_up_.back()();
      clean_up_.pop_back();
    }
    EXPECT_EQ(zeContextDestroy(context_), ZE_RESULT_SUCCESS);
  }

  ze_command_list_handle_t immediate_list(
      ze_command_queue_flags_t flags = 0,
      ze_command_queue_mode_t mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, uint32_t ordinal = 0,
      ze_command_queue_priority_t priority = ZE_COMMAND_QUEUE_PRIORITY_NORMAL) {
    ze_command_queue_desc_t desc = {};
    desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    desc.ordinal = ordinal;
    desc.flags = flags;
    desc.mode = mode;
    desc.priority = priority;
    ze_command_list_handle_t list = nullptr;
    EXPECT_EQ(zeCommandListCreateImmediate(context_, device_, &desc, &list), ZE_RESULT_SUCCESS);
    at_end([list] { EXPECT_EQ(zeCommandListDestroy(list), ZE_RESULT_SUCCESS); });
    return list;
  }

  ze_command_list_handle_t in_order_list(
      ze_command_queue_priority_t priority = ZE_COMMAND_QUEUE_PRIORITY_NORMAL) {
    return immediate_list(ZE_COMMAND_QUEUE_FLAG_IN_ORDER, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, 0,
                          priority);
  }

  ze_command_list_handle_t regular_list(ze_command_list_flags_t flags = 0,
                                        const void* next = nullptr) {
    const ze_command_list_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, next, 0, flags};
    ze_command_list_handle_t list = nullptr;
    EXPECT_EQ(zeCommandListCreate(context_, device_, &desc, &list), ZE_RESULT_SUCCESS);
    at_end([list] { EXPECT_EQ(zeCommandListDestroy(list), ZE_RESULT_SUCCESS); });
    return list;
  }

  ze_command_list_handle_t mutable_list(ze_command_list_flags_t flags = 0) {
    const ze_mutable_command_list_exp_desc_t is_mutable = {
        ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_DESC, nullptr, 0};
    return regular_list(flags, &is_mutable);
  }

  // The id of the next command that is appended.
  uint64_t next_id(ze_command_list_handle_t list, ze_mutable_command_exp_flags_t flags = 0) {
    const ze_mutable_command_id_exp_desc_t desc = {ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_ID_EXP_DESC,
                                                   nullptr, flags};
    uint64_t id = 0;
    EXPECT_EQ(zeCommandListGetNextCommandIdExp(list, &desc, &id), ZE_RESULT_SUCCESS);
    return id;
  }

  void close_list(ze_command_list_handle_t list) {
    ASSERT_EQ(zeCommandListClose(list), ZE_RESULT_SUCCESS);
  }

  ze_command_queue_handle_t queue(
      ze_command_queue_mode_t mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS) {
    ze_command_queue_desc_t desc = {};
    desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    desc.mode = mode;
    ze_command_queue_handle_t made = nullptr;
    EXPECT_EQ(zeCommandQueueCreate(context_, device_, &desc, &made), ZE_RESULT_SUCCESS);
    at_end([made] { EXPECT_EQ(zeCommandQueueDestroy(made), ZE_RESULT_SUCCESS); });
    return made;
  }

  ze_event_pool_handle_t pool(uint32_t count,
                              ze_event_pool_flags_t flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                              const void* next = nullptr) {
    const ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, next, flags, count};
    ze_event_pool_handle_t made = nullptr;
    EXPECT_EQ(zeEventPoolCreate(context_, &desc, 0, nullptr, &made), ZE_RESULT_SUCCESS);
    at_end([made] { EXPECT_EQ(zeEventPoolDestroy(made), ZE_RESULT_SUCCESS); });
    return made;
  }

  ze_event_handle_t event_of(ze_event_pool_handle_t from, uint32_t index = 0) {
    ze_event_desc_t desc = {};
    desc.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
    desc.index = index;
    desc.signal = ZE_EVENT_SCOPE_FLAG_HOST;
    ze_event_handle_t made = nullptr;
    EXPECT_EQ(zeEventCreate(from, &desc, &made), ZE_RESULT_SUCCESS);
    at_end([made] { EXPECT_EQ(zeEventDestroy(made), ZE_RESULT_SUCCESS); });
    return made;
  }

  // A regular event with a pool of its own.
  ze_event_handle_t regular_event(ze_event_pool_flags_t flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE) {
    return event_of(pool(1, flags));
  }

  ze_event_handle_t counter_event(
      ze_event_counter_based_flags_t flags = ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE |
                                             ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE |
                                             ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE,
      const void* next = nullptr) {
    ze_event_counter_based_desc_t desc = {};
    desc.stype = ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC;
    desc.pNext = next;
    desc.flags = flags;
    desc.signal = ZE_EVENT_SCOPE_FLAG_HOST;
    ze_event_handle_t made = nullptr;
    EXPECT_EQ(zeEventCounterBasedCreate(context_, device_, &desc, &made), ZE_RESULT_SUCCESS);
    at_end([made] { EXPECT_EQ(zeEventDestroy(made), ZE_RESULT_SUCCESS); });
    return made;
  }

  template <typename T>
  T* shared_memory(size_t count) {
    const ze_device_mem_alloc_desc_t device_desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t host_desc = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void* memory = nullptr;
    EXPECT_EQ(zeMemAllocShared(context_, &device_desc, &host_desc, count * sizeof(T), 0, device_,
                               &memory),
              ZE_RESULT_SUCCESS);
    at_end([this, memory] { EXPECT_EQ(zeMemFree(context_, memory), ZE_RESULT_SUCCESS); });
    auto* first = static_cast<T*>(memory);
    std::fill(first, first + count, T{});
    return first;
  }

  // Appends a copy of one number.
  ze_result_t copy(ze_command_list_handle_t list, uint32_t* to, const uint32_t* from,
                   ze_event_handle_t signal = nullptr, std::vector<ze_event_handle_t> waits = {}) {
    return zeCommandListAppendMemoryCopy(list, to, from, sizeof *to, signal,
                                         static_cast<uint32_t>(waits.size()), waits.data());
  }

  void execute(ze_command_queue_handle_t on, ze_command_list_handle_t list,
               ze_fence_handle_t fence = nullptr) {
    ASSERT_EQ(zeCommandQueueExecuteCommandLists(on, 1, &list, fence), ZE_RESULT_SUCCESS);
  }

  void execute_and_wait(ze_command_queue_handle_t on, ze_command_list_handle_t list) {
    execute(on, list);
    ASSERT_EQ(zeCommandQueueSynchronize(on, forever), ZE_RESULT_SUCCESS);
  }

  void at_end(std::function<void()> action) { clean_up_.push_back(std::move(action)); }

  ze_driver_handle_t driver_ = nullptr;
  ze_device_handle_t device_ = nullptr;
  ze_context_handle_t context_ = nullptr;

 private:
  std::vector<std::function<void()>> clean_up_;
};

}  // namespace zevent::driver::test
