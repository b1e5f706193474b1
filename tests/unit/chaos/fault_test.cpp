#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <set>
#include <thread>

#include "driver/host_clock.hpp"
#include "support/other_thread.hpp"
#include "unit/chaos/configured_driver.hpp"

namespace zevent::driver::test {
namespace {

class fault : public configured_driver {
 protected:
  void start(const char* faults) { configured_driver::start("ZEVENT_FAULTS", faults); }

  // The call sleeps in the driver until `release` was called.
  static void expect_blocks_until(const std::function<void()>& call,
                                  const std::function<void()>& release) {
    zevent::test::calling_thread caller(call);
    EXPECT_TRUE(caller.blocks());
    release();
  }
};

TEST_F(fault, bad_specification_makes_initialisation_fail) {
  setenv("ZEVENT_FAULTS", "no-such-fault", 1);
  EXPECT_EQ(zeInit(0), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(fault, query_behind_a_barrier_blocks_until_the_device_is_done) {
  ASSERT_NO_FATAL_FAILURE(start("query-blocks-behind-barrier"));
  ze_command_list_handle_t list = immediate_list();
  ze_event_handle_t gate = gate_on(list), barrier = regular_event();
  ASSERT_EQ(zeCommandListAppendBarrier(list, barrier, 0, nullptr), ZE_RESULT_SUCCESS);
  expect_blocks_until([&] { EXPECT_EQ(zeEventQueryStatus(barrier), ZE_RESULT_SUCCESS); },
                      [&] { EXPECT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS); });
}

TEST_F(fault, query_of_a_copy_does_not_block_where_only_barriers_do) {
  ASSERT_NO_FATAL_FAILURE(start("query-blocks-behind-barrier"));
  ze_command_list_handle_t list = immediate_list();
  ze_event_handle_t gate = gate_on(list), copied = regular_event();
  auto* data = shared_memory<uint32_t>(2);
  ASSERT_EQ(copy(list, &data[0], &data[1], copied), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventQueryStatus(copied), ZE_RESULT_NOT_READY);
  EXPECT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(copied, forever), ZE_RESULT_SUCCESS);
}

TEST_F(fault, a_reset_keeps_the_counter_mode_of_an_event_that_an_in_order_list_signalled) {
  ASSERT_NO_FATAL_FAILURE(start("reset-keeps-counter-mode"));
  ze_command_list_handle_t list = immediate_list(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  ze_event_handle_t event = regular_event();
  ASSERT_EQ(zeCommandListAppendBarrier(list, event, 0, nullptr), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostReset(event), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventQueryStatus(event), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(event, 0), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListAppendBarrier(list, nullptr, 1, &event), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(zeEventHostSignal(event), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);

  ASSERT_EQ(zeCommandListAppendEventReset(list, event), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventQueryStatus(event), ZE_RESULT_NOT_READY) << "a reset by a command works";
  EXPECT_EQ(zeEventHostSignal(event), ZE_RESULT_SUCCESS);
}

TEST_F(fault, a_reset_works_where_no_in_order_list_signalled_the_event) {
  ASSERT_NO_FATAL_FAILURE(start("reset-keeps-counter-mode"));
  ze_command_list_handle_t list = immediate_list();
  ze_event_handle_t event = regular_event();
  ASSERT_EQ(zeCommandListAppendBarrier(list, event, 0, nullptr), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostReset(event), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
}

TEST_F(fault, query_of_any_event_blocks_while_the_device_is_busy) {
  ASSERT_NO_FATAL_FAILURE(start("query-blocks-while-busy"));
  ze_command_list_handle_t list = immediate_list();
  ze_event_handle_t gate = gate_on(list), unrelated = regular_event();
  expect_blocks_until([&] { EXPECT_EQ(zeEventQueryStatus(unrelated), ZE_RESULT_NOT_READY); },
                      [&] { EXPECT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS); });
}

TEST_F(fault, query_of_an_idle_device_is_answered_at_once) {
  ASSERT_NO_FATAL_FAILURE(start("query-blocks-while-busy"));
  ze_event_handle_t event = regular_event();
  EXPECT_EQ(zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
  EXPECT_EQ(zeEventHostSignal(event), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventQueryStatus(event), ZE_RESULT_SUCCESS);
}

TEST_F(fault, query_is_slow_with_timestamps_and_right_all_the_same) {
  host_clock::stop();
  ASSERT_NO_FATAL_FAILURE(start("query-slow:us=20000"));
  ze_event_handle_t timed =
      regular_event(ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
  const uint64_t before_ns = host_clock::now_ns();
  EXPECT_EQ(zeEventQueryStatus(timed), ZE_RESULT_NOT_READY);
  EXPECT_EQ(host_clock::now_ns() - before_ns, 20'000'000u);
  EXPECT_EQ(zeEventHostSignal(timed), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventQueryStatus(timed), ZE_RESULT_SUCCESS);
}

TEST_F(fault, append_blocks_until_the_host_signals_what_it_waits_for) {
  ASSERT_NO_FATAL_FAILURE(start("append-blocks-on-host-event"));
  ze_command_list_handle_t list = immediate_list();
  ze_event_handle_t gate = regular_event();
  expect_blocks_until(
      [&] { EXPECT_EQ(zeCommandListAppendWaitOnEvents(list, 1, &gate), ZE_RESULT_SUCCESS); },
      [&] { EXPECT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS); });
  EXPECT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
}

TEST_F(fault, append_does_not_block_where_nothing_is_left_to_wait_for) {
  ASSERT_NO_FATAL_FAILURE(start("append-blocks-on-host-event"));
  ze_command_list_handle_t list = immediate_list();
  ze_event_handle_t complete = regular_event(), copied = regular_event();
  ASSERT_EQ(zeEventHostSignal(complete), ZE_RESULT_SUCCESS);
  auto* data = shared_memory<uint32_t>(2);
  data[1] = 7;
  ASSERT_EQ(copy(list, &data[0], &data[1], copied, {complete}), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(copied, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(data[0], 7u);
}

TEST_F(fault, lost_completions_leave_the_work_done_and_the_event_unsignalled) {
  ASSERT_NO_FATAL_FAILURE(start("completion-lost:after=1"));
  ze_command_list_handle_t list = immediate_list();
  ze_event_handle_t first = regular_event(), second = regular_event();
  auto* data = shared_memory<uint32_t>(3);
  data[0] = 7;
  ASSERT_EQ(copy(list, &data[1], &data[0], first), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(first, forever), ZE_RESULT_SUCCESS);
  ASSERT_EQ(copy(list, &data[2], &data[0], second), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(second, 1), ZE_RESULT_NOT_READY);
  EXPECT_EQ(data[2], 7u);
}

TEST_F(fault, lost_device_frees_every_waiter_and_says_so_in_later_calls) {
  ASSERT_NO_FATAL_FAILURE(start("device-lost:after=1"));
  ze_command_list_handle_t list = immediate_list();
  ze_event_handle_t event = regular_event();
  auto* data = shared_memory<uint32_t>(2);
  ASSERT_EQ(copy(list, &data[0], &data[1]), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
  ASSERT_EQ(copy(list, &data[0], &data[1], event), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_ERROR_DEVICE_LOST);
  EXPECT_EQ(zeEventQueryStatus(event), ZE_RESULT_ERROR_DEVICE_LOST);
  EXPECT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_ERROR_DEVICE_LOST);
  EXPECT_EQ(copy(list, &data[0], &data[1]), ZE_RESULT_ERROR_DEVICE_LOST);
  const ze_device_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  void* memory = nullptr;
  EXPECT_EQ(zeMemAllocDevice(context_, &desc, 64, 0, device_, &memory),
            ZE_RESULT_ERROR_DEVICE_LOST);
}

TEST_F(fault, lost_device_is_told_to_those_who_wait_in_another_context) {
  ASSERT_NO_FATAL_FAILURE(start("device-lost:after=0"));
  const ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  ze_context_handle_t other = nullptr;
  ASSERT_EQ(zeContextCreate(driver_, &desc, &other), ZE_RESULT_SUCCESS);
  const ze_event_pool_desc_t pool_desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                          ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1};
  ze_event_pool_handle_t pool_of_other = nullptr;
  ASSERT_EQ(zeEventPoolCreate(other, &pool_desc, 0, nullptr, &pool_of_other), ZE_RESULT_SUCCESS);
  ze_event_handle_t never = nullptr;
  const ze_event_desc_t event_desc = {ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 0, 0, 0};
  ASSERT_EQ(zeEventCreate(pool_of_other, &event_desc, &never), ZE_RESULT_SUCCESS);
  auto waiter =
      std::async(std::launch::async, [&] { return zeEventHostSynchronize(never, forever); });
  auto* data = shared_memory<uint32_t>(2);
  ASSERT_EQ(copy(immediate_list(), &data[0], &data[1]), ZE_RESULT_SUCCESS);
  EXPECT_EQ(waiter.get(), ZE_RESULT_ERROR_DEVICE_LOST);
  EXPECT_EQ(zeContextGetStatus(other), ZE_RESULT_ERROR_DEVICE_LOST);
  EXPECT_EQ(zeEventDestroy(never), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventPoolDestroy(pool_of_other), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeContextDestroy(other), ZE_RESULT_SUCCESS);
}

TEST_F(fault, lost_device_is_told_to_those_who_change_or_clone_a_list) {
  ASSERT_NO_FATAL_FAILURE(start("device-lost:after=0"));
  const auto cloneable = ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE | ZE_COMMAND_LIST_FLAG_IN_ORDER;
  const auto list = mutable_list(cloneable), open = mutable_list();
  const auto event = counter_event();
  const uint64_t id = next_id(list);
  ASSERT_EQ(zeCommandListAppendBarrier(list, event, 0, nullptr), ZE_RESULT_SUCCESS);
  close_list(list);
  ze_command_list_handle_t clone = nullptr;
  ASSERT_EQ(zeCommandListCreateCloneExp(list, &clone), ZE_RESULT_SUCCESS);
  const auto on = queue();
  execute(on, clone);
  EXPECT_EQ(zeCommandQueueSynchronize(on, forever), ZE_RESULT_ERROR_DEVICE_LOST);
  EXPECT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_ERROR_DEVICE_LOST);
  EXPECT_EQ(zeCommandListUpdateMutableCommandSignalEventExp(list, id, nullptr),
            ZE_RESULT_ERROR_DEVICE_LOST);
  const ze_mutable_command_id_exp_desc_t desc = {ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_ID_EXP_DESC,
                                                 nullptr, 0};
  uint64_t other = 0;
  EXPECT_EQ(zeCommandListGetNextCommandIdExp(open, &desc, &other), ZE_RESULT_ERROR_DEVICE_LOST);
  ze_command_list_handle_t another = nullptr;
  EXPECT_EQ(zeCommandListCreateCloneExp(list, &another), ZE_RESULT_ERROR_DEVICE_LOST);
  EXPECT_EQ(zeCommandListDestroy(clone), ZE_RESULT_SUCCESS);
}

TEST_F(fault, lost_device_is_told_to_those_who_wait_for_an_event_a_fence_a_queue_or_a_list) {
  ASSERT_NO_FATAL_FAILURE(start("device-lost:after=0"));
  ze_command_list_handle_t held = immediate_list(), list = regular_list();
  ze_event_handle_t never = regular_event();
  ASSERT_EQ(zeCommandListAppendWaitOnEvents(held, 1, &never), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListAppendWaitOnEvents(list, 1, &never), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(list), ZE_RESULT_SUCCESS);
  ze_command_queue_handle_t on = queue();
  const ze_fence_desc_t desc = {ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, 0};
  ze_fence_handle_t fence = nullptr;
  ASSERT_EQ(zeFenceCreate(on, &desc, &fence), ZE_RESULT_SUCCESS);
  execute(on, list, fence);
  EXPECT_EQ(zeFenceQueryStatus(fence), ZE_RESULT_NOT_READY);

  std::vector<std::future<ze_result_t>> waiters;
  const auto wait = [&](auto call) { waiters.push_back(std::async(std::launch::async, call)); };
  wait([&] { return zeEventHostSynchronize(never, forever); });
  wait([&] { return zeFenceHostSynchronize(fence, forever); });
  wait([&] { return zeCommandQueueSynchronize(on, forever); });
  wait([&] { return zeCommandListHostSynchronize(held, forever); });
  auto* data = shared_memory<uint32_t>(2);
  ASSERT_EQ(copy(immediate_list(), &data[0], &data[1]), ZE_RESULT_SUCCESS);  // the last straw
  for (auto& each : waiters) EXPECT_EQ(each.get(), ZE_RESULT_ERROR_DEVICE_LOST);

  EXPECT_EQ(zeFenceQueryStatus(fence), ZE_RESULT_ERROR_DEVICE_LOST);
  EXPECT_EQ(zeFenceDestroy(fence), ZE_RESULT_SUCCESS);
}

TEST_F(fault, device_memory_runs_out_at_the_given_allocation) {
  ASSERT_NO_FATAL_FAILURE(start("out-of-device-memory:at=2"));
  const ze_device_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  void *first = nullptr, *second = nullptr, *host = nullptr;
  EXPECT_EQ(zeMemAllocDevice(context_, &desc, 64, 0, device_, &first), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeMemAllocDevice(context_, &desc, 64, 0, device_, &second),
            ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
  const ze_host_mem_alloc_desc_t host_desc = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
  EXPECT_EQ(zeMemAllocHost(context_, &host_desc, 64, 0, &host), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeMemFree(context_, first), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeMemFree(context_, host), ZE_RESULT_SUCCESS);
}

TEST_F(fault, device_memory_runs_out_for_images_too) {
  ASSERT_NO_FATAL_FAILURE(start("out-of-device-memory:at=2"));
  ze_image_desc_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC;
  desc.type = ZE_IMAGE_TYPE_1D;
  desc.format.layout = ZE_IMAGE_FORMAT_LAYOUT_8;
  desc.width = 64;
  ze_image_handle_t first = nullptr, second = nullptr;
  ASSERT_EQ(zeImageCreate(context_, device_, &desc, &first), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeImageCreate(context_, device_, &desc, &second), ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
  EXPECT_EQ(zeImageDestroy(first), ZE_RESULT_SUCCESS);
}

TEST_F(fault, host_memory_runs_out_for_objects_and_allocations) {
  ASSERT_NO_FATAL_FAILURE(start("out-of-host-memory:at=4"));  // two contexts come first
  ze_event_pool_handle_t made = pool(1);
  ze_event_desc_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
  ze_event_handle_t event = nullptr;
  EXPECT_EQ(zeEventCreate(made, &desc, &event), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
  shared_memory<uint32_t>(2);  // of which there is enough
  const ze_host_mem_alloc_desc_t host_desc = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
  void* memory = nullptr;
  EXPECT_EQ(zeMemAllocHost(context_, &host_desc, 64, 0, &memory),
            ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
}

TEST_F(fault, creating_an_event_fails_from_the_given_one_on) {
  ASSERT_NO_FATAL_FAILURE(start("event-create-fails:at=2"));
  ze_event_pool_handle_t made = pool(3);
  ze_event_handle_t first = event_of(made, 0);
  ze_event_desc_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
  desc.index = 1;
  ze_event_handle_t event = nullptr;
  EXPECT_EQ(zeEventCreate(made, &desc, &event), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
  EXPECT_EQ(zeEventCreate(made, &desc, &event), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
  EXPECT_EQ(zeEventHostSignal(first), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventQueryStatus(first), ZE_RESULT_SUCCESS);
}

class handle_reuse : public fault {
 protected:
  // How many addresses a hundred events have that live one after another.
  size_t different_addresses() {
    ze_event_pool_handle_t made = pool(1);
    ze_event_desc_t desc = {};
    desc.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
    std::set<ze_event_handle_t> seen;
    for (int i = 0; i < 100; ++i) {
      ze_event_handle_t event = nullptr;
      EXPECT_EQ(zeEventCreate(made, &desc, &event), ZE_RESULT_SUCCESS);
      EXPECT_EQ(zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
      EXPECT_EQ(zeEventHostSignal(event), ZE_RESULT_SUCCESS);
      EXPECT_EQ(zeEventQueryStatus(event), ZE_RESULT_SUCCESS);
      seen.insert(event);
      EXPECT_EQ(zeEventDestroy(event), ZE_RESULT_SUCCESS);
    }
    return seen.size();
  }
};

TEST_F(handle_reuse, address_of_a_destroyed_event_is_given_out_at_once) {
  ASSERT_NO_FATAL_FAILURE(start("handle-reuse"));
  EXPECT_EQ(different_addresses(), 1u);
}

TEST_F(handle_reuse, address_is_never_given_out_again) {
  ASSERT_NO_FATAL_FAILURE(start("handle-reuse:times=0"));
  EXPECT_EQ(different_addresses(), 100u);
}

class ipc_fault : public fault {
 protected:
  ze_result_t open_own_pool() {
    ze_event_pool_handle_t own = pool(1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_IPC);
    ze_ipc_event_pool_handle_t handle = {};
    EXPECT_EQ(zeEventPoolGetIpcHandle(own, &handle), ZE_RESULT_SUCCESS);
    ze_event_pool_handle_t opened = nullptr;
    const ze_result_t result = zeEventPoolOpenIpcHandle(context_, handle, &opened);
    if (result == ZE_RESULT_SUCCESS) {
      EXPECT_EQ(zeEventPoolCloseIpcHandle(opened), ZE_RESULT_SUCCESS);
    }
    return result;
  }
};

TEST_F(ipc_fault, opening_fails_from_the_given_one_on) {
  ASSERT_NO_FATAL_FAILURE(start("ipc-open-fails:at=2"));
  EXPECT_EQ(open_own_pool(), ZE_RESULT_SUCCESS);
  EXPECT_EQ(open_own_pool(), ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
}

TEST_F(ipc_fault, dead_owner_makes_opening_fail) {
  ASSERT_NO_FATAL_FAILURE(start("ipc-owner-dies:after=1"));
  EXPECT_EQ(open_own_pool(), ZE_RESULT_SUCCESS);
  EXPECT_NE(open_own_pool(), ZE_RESULT_SUCCESS);
}

class timestamp_fault : public fault {
 protected:
  ze_kernel_timestamp_result_t time_a_copy(ze_command_list_handle_t list, ze_event_handle_t timed) {
    auto* data = shared_memory<uint32_t>(2);
    EXPECT_EQ(copy(list, &data[0], &data[1], timed), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeEventHostSynchronize(timed, forever), ZE_RESULT_SUCCESS);
    ze_kernel_timestamp_result_t times = {};
    EXPECT_EQ(zeEventQueryKernelTimestamp(timed, &times), ZE_RESULT_SUCCESS);
    return times;
  }
};

TEST_F(timestamp_fault, timestamps_stay_those_of_the_first_use) {
  ASSERT_NO_FATAL_FAILURE(start("timestamp-stale-after-reset"));
  ze_command_list_handle_t list = in_order_list();
  ze_event_handle_t timed =
      regular_event(ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
  const auto first = time_a_copy(list, timed);
  ASSERT_EQ(zeEventHostReset(timed), ZE_RESULT_SUCCESS);
  const auto second = time_a_copy(list, timed);
  EXPECT_EQ(first.global.kernelStart, second.global.kernelStart);
  EXPECT_EQ(first.global.kernelEnd, second.global.kernelEnd);
  ze_event_handle_t other =
      regular_event(ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
  EXPECT_GE(time_a_copy(list, other).global.kernelStart, first.global.kernelEnd);
}

TEST_F(timestamp_fault, clock_wraps_soon_after_the_start) {
  host_clock::stop();
  ASSERT_NO_FATAL_FAILURE(start("timestamp-wrap:ms=20"));
  uint64_t host = 0, before = 0, after = 0;
  ASSERT_EQ(zeDeviceGetGlobalTimestamps(device_, &host, &before), ZE_RESULT_SUCCESS);
  host_clock::advance(19'999'999);
  ASSERT_EQ(zeDeviceGetGlobalTimestamps(device_, &host, &after), ZE_RESULT_SUCCESS);
  EXPECT_EQ(after - before, 19'999'999u);
  host_clock::advance(1);
  ASSERT_EQ(zeDeviceGetGlobalTimestamps(device_, &host, &after), ZE_RESULT_SUCCESS);
  EXPECT_EQ(after, 0u);
}

TEST_F(timestamp_fault, slow_engine_stretches_what_commands_take) {
  host_clock::stop();
  ASSERT_NO_FATAL_FAILURE(start("slow-engine:factor=200"));
  ze_command_list_handle_t list = in_order_list();
  ze_event_handle_t timed =
      regular_event(ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
  constexpr uint64_t work_ns = 3'000;
  ASSERT_EQ(
      zeCommandListAppendHostFunction(
          list, [](void*) { host_clock::advance(work_ns); }, nullptr, nullptr, timed, 0, nullptr),
      ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeEventHostSynchronize(timed, forever), ZE_RESULT_SUCCESS);
  ze_kernel_timestamp_result_t times = {};
  ASSERT_EQ(zeEventQueryKernelTimestamp(timed, &times), ZE_RESULT_SUCCESS);
  EXPECT_EQ(times.global.kernelEnd - times.global.kernelStart, 200 * work_ns);
}

// While a fault has not struck, or is of no matter to a program, everything is as ever.
class in_spite_of_a_fault : public fault, public ::testing::WithParamInterface<const char*> {};

TEST_P(in_spite_of_a_fault, events_lists_queues_fences_and_memory_are_right) {
  ASSERT_NO_FATAL_FAILURE(start(GetParam()));
  constexpr uint32_t links = 8;
  auto* data = shared_memory<uint32_t>(2 * links);
  data[0] = 99;
  // From link to link on an immediate list that is not in-order, then on a regular one.
  ze_command_list_handle_t immediate = immediate_list(), regular = regular_list();
  ze_event_pool_handle_t events = pool(2 * links);
  ze_event_handle_t last = nullptr;
  for (uint32_t i = 1; i < 2 * links; ++i) {
    ze_event_handle_t next = event_of(events, i);
    const std::vector<ze_event_handle_t> waits(last != nullptr ? 1 : 0, last);
    ASSERT_EQ(copy(i < links ? immediate : regular, &data[i], &data[i - 1], next, waits),
              ZE_RESULT_SUCCESS);
    last = next;
  }
  ASSERT_EQ(zeCommandListClose(regular), ZE_RESULT_SUCCESS);
  ze_command_queue_handle_t on = queue();
  const ze_fence_desc_t desc = {ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, 0};
  ze_fence_handle_t fence = nullptr;
  ASSERT_EQ(zeFenceCreate(on, &desc, &fence), ZE_RESULT_SUCCESS);
  execute(on, regular, fence);
  EXPECT_EQ(zeFenceHostSynchronize(fence, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeFenceQueryStatus(fence), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventQueryStatus(last), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListHostSynchronize(immediate, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandQueueSynchronize(on, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(data[2 * links - 1], 99u);
  EXPECT_EQ(zeEventHostReset(last), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventQueryStatus(last), ZE_RESULT_NOT_READY);
  EXPECT_EQ(zeFenceDestroy(fence), ZE_RESULT_SUCCESS);
}

INSTANTIATE_TEST_SUITE_P(all, in_spite_of_a_fault,
                         ::testing::Values("append-blocks-on-host-event", "completion-lost",
                                           "device-lost", "event-create-fails:100", "handle-reuse",
                                           "handle-reuse:0", "ipc-open-fails", "ipc-owner-dies:0",
                                           "out-of-device-memory:100", "out-of-host-memory:100",
                                           "query-blocks-behind-barrier", "query-blocks-while-busy",
                                           "query-slow:1", "slow-engine",
                                           "timestamp-stale-after-reset", "timestamp-wrap"));

}  // namespace
}  // namespace zevent::driver::test
