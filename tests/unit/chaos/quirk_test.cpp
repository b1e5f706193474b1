// The driver with the quirks of Intel's. Each case has its quirk alone, so that it is that quirk
// that it finds; misuse_test.cpp and others say what the driver does without.
#include <gtest/gtest.h>

#include <csignal>

#include "api/zex_api.h"
#include "kernels/vector_add_spv.h"
#include "unit/chaos/configured_driver.hpp"
#include "unit/recorder/sanitizers.hpp"

namespace zevent::driver::test {
namespace {

class quirk : public configured_driver {
 protected:
  void start(const char* quirks) { configured_driver::start("ZEVENT_QUIRKS", quirks); }

  ze_result_t create_pool(ze_event_pool_flags_t flags, uint32_t count,
                          ze_event_pool_handle_t* out) {
    const ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr, flags, count};
    return zeEventPoolCreate(context_, &desc, 0, nullptr, out);
  }

  ze_result_t create_counter_event(ze_context_handle_t owner, ze_event_counter_based_flags_t flags,
                                   ze_event_handle_t* out) {
    ze_event_counter_based_desc_t desc = {};
    desc.stype = ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC;
    desc.flags = flags;
    return zeEventCounterBasedCreate(owner, device_, &desc, out);
  }

  ze_fence_handle_t fence_of(ze_command_queue_handle_t on, ze_fence_flags_t flags = 0) {
    const ze_fence_desc_t desc = {ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, flags};
    ze_fence_handle_t made = nullptr;
    EXPECT_EQ(zeFenceCreate(on, &desc, &made), ZE_RESULT_SUCCESS);
    at_end([made] { EXPECT_EQ(zeFenceDestroy(made), ZE_RESULT_SUCCESS); });
    return made;
  }

  ze_result_t fill(ze_command_list_handle_t list, void* memory, size_t pattern_size, size_t size) {
    const uint64_t pattern = 0x0807060504030201;
    return zeCommandListAppendMemoryFill(list, memory, &pattern, pattern_size, size, nullptr, 0,
                                         nullptr);
  }
};

// The death of the process, and the line that says why. Under a sanitizer it is the sanitizer that
// ends the process.
#if ZEVENT_ADDRESS_SANITIZER || ZEVENT_THREAD_SANITIZER
#define EXPECT_CRASH(call, signal, name) EXPECT_DEATH(call, "crashes here by the quirk " name)
#else
#define EXPECT_CRASH(call, signal, name) \
  EXPECT_EXIT(call, ::testing::KilledBySignal(signal), "crashes here by the quirk " name)
#endif

class quirk_crash : public quirk {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(quirk, bad_specification_makes_initialisation_fail) {
  setenv("ZEVENT_QUIRKS", "no-such-quirk", 1);
  EXPECT_EQ(zeInit(0), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(quirk, both_timestamp_flags_are_accepted) {
  ASSERT_NO_FATAL_FAILURE(start("accepts-both-timestamp-flags"));
  ze_event_pool_handle_t made = nullptr;
  ASSERT_EQ(
      create_pool(ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP,
                  1, &made),
      ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventPoolDestroy(made), ZE_RESULT_SUCCESS);
  ze_event_handle_t event = nullptr;
  ASSERT_EQ(create_counter_event(context_,
                                 ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP |
                                     ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP,
                                 &event),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventDestroy(event), ZE_RESULT_SUCCESS);
}

TEST_F(quirk, a_fence_of_another_queue_is_signalled) {
  ASSERT_NO_FATAL_FAILURE(start("accepts-fence-of-another-queue"));
  const auto fence = fence_of(queue());
  const auto list = regular_list();
  close_list(list);
  ASSERT_NO_FATAL_FAILURE(execute(queue(), list, fence));
  EXPECT_EQ(zeFenceHostSynchronize(fence, forever), ZE_RESULT_SUCCESS);
}

TEST_F(quirk, a_counter_based_event_needs_no_context) {
  ASSERT_NO_FATAL_FAILURE(start("accepts-null-context"));
  ze_event_handle_t event = nullptr;
  ASSERT_EQ(create_counter_event(nullptr, ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE, &event),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListAppendSignalEvent(in_order_list(), event), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventDestroy(event), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zexCounterBasedEventCreate2(nullptr, device_, nullptr, &event), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventDestroy(event), ZE_RESULT_SUCCESS);
}

TEST_F(quirk, a_fill_cuts_its_last_pattern_short) {
  ASSERT_NO_FATAL_FAILURE(start("accepts-partial-fill-pattern"));
  auto* bytes = shared_memory<char>(8);
  const auto list = in_order_list();
  ASSERT_EQ(fill(list, bytes, 4, 6), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(std::string(bytes, 8), std::string("\1\2\3\4\1\2\0\0", 8));
  EXPECT_EQ(fill(list, bytes, 0, 6), ZE_RESULT_ERROR_INVALID_SIZE) << "no pattern at all";
}

TEST_F(quirk, a_pool_may_have_no_events) {
  ASSERT_NO_FATAL_FAILURE(start("accepts-pool-without-events"));
  for (const ze_event_pool_flags_t flags : {0u, uint32_t{ZE_EVENT_POOL_FLAG_IPC}}) {
    ze_event_pool_handle_t made = nullptr;
    ASSERT_EQ(create_pool(flags, 0, &made), ZE_RESULT_SUCCESS);
    ze_event_desc_t desc = {};
    desc.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
    ze_event_handle_t event = nullptr, second = nullptr;
    ASSERT_EQ(zeEventCreate(made, &desc, &event), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeEventHostSignal(event), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeEventDestroy(event), ZE_RESULT_SUCCESS);
    desc.index = 1;
    EXPECT_EQ(zeEventCreate(made, &desc, &second), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(zeEventPoolDestroy(made), ZE_RESULT_SUCCESS);
  }
}

TEST_F(quirk, unknown_flags_of_a_counter_based_event_are_ignored) {
  ASSERT_NO_FATAL_FAILURE(start("accepts-unknown-counter-flags"));
  ze_event_handle_t event = nullptr;
  ASSERT_EQ(create_counter_event(context_, 0x40000080, &event), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListAppendSignalEvent(in_order_list(), event), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventDestroy(event), ZE_RESULT_SUCCESS);
  ze_event_pool_handle_t made = nullptr;
  EXPECT_EQ(create_pool(0x10, 1, &made), ZE_RESULT_ERROR_INVALID_ENUMERATION)
      << "those of pools are another quirk's";
}

TEST_F(quirk, unknown_flags_of_pools_and_fences_and_unknown_scopes_are_ignored) {
  ASSERT_NO_FATAL_FAILURE(start("accepts-unknown-flags"));
  const auto made = pool(1, 0x10 | ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
  ze_event_desc_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
  desc.signal = 0x100;
  desc.wait = 0x200;
  ze_event_handle_t event = nullptr;
  ASSERT_EQ(zeEventCreate(made, &desc, &event), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSignal(event), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventQueryStatus(event), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventDestroy(event), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeFenceQueryStatus(fence_of(queue(), 0x2)), ZE_RESULT_NOT_READY);
}

TEST_F(quirk, the_copy_engine_fills_with_single_bytes) {
  ASSERT_NO_FATAL_FAILURE(start("byte-fill-on-copy-engine"));
  uint32_t count = 2;
  ze_command_queue_group_properties_t groups[2] = {};
  ASSERT_EQ(zeDeviceGetCommandQueueGroupProperties(device_, &count, groups), ZE_RESULT_SUCCESS);
  ASSERT_EQ(groups[1].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE, 0u);
  EXPECT_EQ(groups[1].maxMemoryFillPatternSize, 1u);
  EXPECT_GT(groups[0].maxMemoryFillPatternSize, 4u);
  const auto copying = immediate_list(0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, 1);
  auto* bytes = shared_memory<char>(8);
  EXPECT_EQ(fill(copying, bytes, 4, 8), ZE_RESULT_ERROR_INVALID_SIZE);
  EXPECT_EQ(fill(copying, bytes, 1, 8), ZE_RESULT_SUCCESS);
  EXPECT_EQ(fill(immediate_list(), bytes, 4, 8), ZE_RESULT_SUCCESS);
}

class quirk_of_counter_event : public quirk {
 protected:
  // A regular list that waits for `gate_`, then signals `event_`; its first run is over.
  void start_and_run_once() {
    ASSERT_NO_FATAL_FAILURE(start("counter-event-stays-complete"));
    gate_ = regular_event();
    event_ = counter_event();
    list_ = regular_list(ZE_COMMAND_LIST_FLAG_IN_ORDER);
    on_ = queue();
    ASSERT_EQ(zeCommandListAppendWaitOnEvents(list_, 1, &gate_), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeCommandListAppendBarrier(list_, event_, 0, nullptr), ZE_RESULT_SUCCESS);
    close_list(list_);
    ASSERT_EQ(zeEventHostSignal(gate_), ZE_RESULT_SUCCESS);
    execute_and_wait(on_, list_);
    ASSERT_EQ(zeEventHostReset(gate_), ZE_RESULT_SUCCESS);
  }

  void finish() {
    ASSERT_EQ(zeEventHostSignal(gate_), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeCommandQueueSynchronize(on_, forever), ZE_RESULT_SUCCESS);
  }

  ze_event_handle_t gate_ = nullptr, event_ = nullptr;
  ze_command_list_handle_t list_ = nullptr;
  ze_command_queue_handle_t on_ = nullptr;
};

TEST_F(quirk_of_counter_event, stays_complete_while_its_list_runs_again) {
  ASSERT_NO_FATAL_FAILURE(start_and_run_once());
  ASSERT_EQ(zeEventQueryStatus(event_), ZE_RESULT_SUCCESS);
  execute(on_, list_);
  at_end([this] { finish(); });
  ASSERT_EQ(zeEventQueryStatus(event_), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(event_, forever), ZE_RESULT_SUCCESS);
  const auto waiting = in_order_list();
  ASSERT_EQ(zeCommandListAppendWaitOnEvents(waiting, 1, &event_), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListHostSynchronize(waiting, forever), ZE_RESULT_SUCCESS)
      << "an immediate list does not wait either";
}

TEST_F(quirk_of_counter_event, is_incomplete_again_where_the_host_has_not_looked) {
  ASSERT_NO_FATAL_FAILURE(start_and_run_once());
  execute(on_, list_);
  EXPECT_EQ(zeEventQueryStatus(event_), ZE_RESULT_NOT_READY);
  finish();
  EXPECT_EQ(zeEventQueryStatus(event_), ZE_RESULT_SUCCESS);
}

TEST_F(quirk_of_counter_event, is_incomplete_again_after_another_append_that_signals_it) {
  ASSERT_NO_FATAL_FAILURE(start_and_run_once());
  ASSERT_EQ(zeEventHostSynchronize(event_, forever), ZE_RESULT_SUCCESS);
  const auto list = in_order_list();
  ASSERT_EQ(zeCommandListAppendBarrier(list, event_, 1, &gate_), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventQueryStatus(event_), ZE_RESULT_NOT_READY);
  finish();
  EXPECT_EQ(zeEventHostSynchronize(event_, forever), ZE_RESULT_SUCCESS);
}

TEST_F(quirk_crash, of_a_null_extension_name) {
  ASSERT_NO_FATAL_FAILURE(start("crash-on-null-extension-name"));
  void* address = nullptr;
  EXPECT_CRASH(zeDriverGetExtensionFunctionAddress(driver_, nullptr, &address), SIGABRT,
               "crash-on-null-extension-name");
}

TEST_F(quirk_crash, of_a_null_event) {
  ASSERT_NO_FATAL_FAILURE(start("crash-on-null-handle"));
  EXPECT_CRASH(zeEventQueryStatus(nullptr), SIGSEGV, "crash-on-null-handle");
  EXPECT_CRASH(zeEventHostSynchronize(nullptr, 0), SIGSEGV, "crash-on-null-handle");
  ze_event_counter_based_flags_t flags = 0;
  EXPECT_EQ(zeEventGetCounterBasedFlags(nullptr, &flags), ZE_RESULT_ERROR_INVALID_NULL_HANDLE)
      << "newer functions look";
}

TEST_F(quirk_crash, of_a_null_event_in_an_append) {
  ASSERT_NO_FATAL_FAILURE(start("crash-on-null-handle"));
  const auto list = in_order_list();
  ze_event_handle_t none = nullptr;
  EXPECT_CRASH(zeCommandListAppendSignalEvent(list, none), SIGSEGV, "crash-on-null-handle");
  EXPECT_CRASH(zeCommandListAppendBarrier(list, nullptr, 1, &none), SIGSEGV,
               "crash-on-null-handle");
  EXPECT_EQ(zeCommandListAppendBarrier(regular_list(), nullptr, 1, &none),
            ZE_RESULT_ERROR_INVALID_ARGUMENT)
      << "regular lists look";
}

TEST_F(quirk_crash, of_a_null_list_queue_fence_pool_or_context) {
  ASSERT_NO_FATAL_FAILURE(start("crash-on-null-handle"));
  ze_command_list_handle_t none = nullptr;
  EXPECT_CRASH(zeCommandListClose(none), SIGSEGV, "crash-on-null-handle");
  EXPECT_CRASH(zeCommandQueueExecuteCommandLists(queue(), 1, &none, nullptr), SIGSEGV,
               "crash-on-null-handle");
  EXPECT_CRASH(zeCommandQueueSynchronize(nullptr, 0), SIGSEGV, "crash-on-null-handle");
  EXPECT_CRASH(zeFenceQueryStatus(nullptr), SIGSEGV, "crash-on-null-handle");
  EXPECT_CRASH(zeEventPoolDestroy(nullptr), SIGSEGV, "crash-on-null-handle");
  EXPECT_CRASH(zeContextDestroy(nullptr), SIGSEGV, "crash-on-null-handle");
}

TEST_F(quirk_crash, of_a_null_pointer_in_an_append) {
  ASSERT_NO_FATAL_FAILURE(start("crash-on-null-pointer"));
  const auto list = in_order_list();
  EXPECT_CRASH(zeCommandListAppendMemoryCopy(list, nullptr, nullptr, 4, nullptr, 0, nullptr),
               SIGSEGV, "crash-on-null-pointer");
  EXPECT_CRASH(zeCommandListAppendBarrier(list, nullptr, 1, nullptr), SIGSEGV,
               "crash-on-null-pointer");
  EXPECT_EQ(zeCommandListAppendWaitOnEvents(list, 0, nullptr), ZE_RESULT_ERROR_INVALID_NULL_POINTER)
      << "there is nothing to look at";
  EXPECT_EQ(zeCommandListAppendMemoryPrefetch(list, nullptr, 4),
            ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  EXPECT_EQ(zeDeviceGetProperties(device_, nullptr), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

TEST_F(quirk, freeing_null_is_an_invalid_argument) {
  ASSERT_NO_FATAL_FAILURE(start("free-of-null-result"));
  EXPECT_EQ(zeMemFree(context_, nullptr), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(quirk, executing_an_immediate_list_is_an_invalid_argument) {
  ASSERT_NO_FATAL_FAILURE(start("immediate-list-execution-result"));
  auto list = immediate_list();
  EXPECT_EQ(zeCommandQueueExecuteCommandLists(queue(), 1, &list, nullptr),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(quirk, a_kernel_argument_that_is_not_there_is_an_invalid_argument) {
  ASSERT_NO_FATAL_FAILURE(start("kernel-argument-index-result"));
  ze_module_desc_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
  desc.format = ZE_MODULE_FORMAT_IL_SPIRV;
  desc.inputSize = sizeof vector_add_spv;
  desc.pInputModule = reinterpret_cast<const uint8_t*>(vector_add_spv);
  ze_module_handle_t module = nullptr;
  ASSERT_EQ(zeModuleCreate(context_, device_, &desc, &module, nullptr), ZE_RESULT_SUCCESS);
  const ze_kernel_desc_t kernel_desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, "vector_add"};
  ze_kernel_handle_t kernel = nullptr;
  ASSERT_EQ(zeKernelCreate(module, &kernel_desc, &kernel), ZE_RESULT_SUCCESS);
  const int number = 0;
  EXPECT_EQ(zeKernelSetArgumentValue(kernel, 100, sizeof number, &number),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(zeKernelDestroy(kernel), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeModuleDestroy(module), ZE_RESULT_SUCCESS);
}

TEST_F(quirk, memory_is_accessed_by_one_side_at_a_time) {
  ASSERT_NO_FATAL_FAILURE(start("no-concurrent-access"));
  ze_device_memory_access_properties_t access = {};
  access.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES;
  ASSERT_EQ(zeDeviceGetMemoryAccessProperties(device_, &access), ZE_RESULT_SUCCESS);
  constexpr uint32_t one_side = ZE_MEMORY_ACCESS_CAP_FLAG_RW | ZE_MEMORY_ACCESS_CAP_FLAG_ATOMIC;
  EXPECT_EQ(access.hostAllocCapabilities, uint32_t{ZE_MEMORY_ACCESS_CAP_FLAG_RW});
  EXPECT_EQ(access.deviceAllocCapabilities, one_side);
  EXPECT_EQ(access.sharedSingleDeviceAllocCapabilities, one_side);
  EXPECT_EQ(access.sharedCrossDeviceAllocCapabilities, 0u);
}

TEST_F(quirk, the_maximum_of_counters_is_not_told) {
  ASSERT_NO_FATAL_FAILURE(start("no-counter-maximum"));
  uint64_t most = 0;
  EXPECT_EQ(zeDeviceGetCounterBasedEventMaxValue(device_, &most),
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
}

TEST_F(quirk, the_handle_of_a_shared_pool_is_not_taken_back) {
  ASSERT_NO_FATAL_FAILURE(start("no-event-pool-put-ipc-handle"));
  ze_ipc_event_pool_handle_t handle = {};
  ASSERT_EQ(zeEventPoolGetIpcHandle(pool(1, ZE_EVENT_POOL_FLAG_IPC), &handle), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventPoolPutIpcHandle(context_, handle), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
}

TEST_F(quirk, plain_host_memory_is_copied_but_not_filled) {
  ASSERT_NO_FATAL_FAILURE(start("no-shared-system-memory"));
  ze_device_memory_access_properties_t access = {};
  access.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES;
  ASSERT_EQ(zeDeviceGetMemoryAccessProperties(device_, &access), ZE_RESULT_SUCCESS);
  EXPECT_EQ(access.sharedSystemAllocCapabilities, 0u);
  const auto list = in_order_list();
  uint32_t on_stack[2] = {7, 0};
  auto* shared = shared_memory<uint32_t>(2);
  EXPECT_EQ(fill(list, on_stack, 1, sizeof on_stack), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(fill(list, nullptr, 1, 4), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(fill(list, shared + 1, 1, sizeof *shared), ZE_RESULT_SUCCESS);
  EXPECT_EQ(copy(list, &on_stack[1], &shared[1]), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(on_stack[0], 7u);
  EXPECT_EQ(on_stack[1], 0x01010101u);
}

TEST_F(quirk, the_flags_of_a_counter_based_event_are_told_in_part) {
  ASSERT_NO_FATAL_FAILURE(start("partial-counter-flags"));
  for (const auto& [given, told] : {std::pair{5u, 1u}, {6u, 2u}, {0xbu, 3u}, {4u, 1u}}) {
    ze_event_counter_based_flags_t flags = 0;
    ASSERT_EQ(zeEventGetCounterBasedFlags(counter_event(given), &flags), ZE_RESULT_SUCCESS);
    EXPECT_EQ(flags, told) << "of " << given;
  }
}

TEST_F(quirk, a_reset_keeps_the_counter_mode_of_an_event_that_an_in_order_list_signalled) {
  ASSERT_NO_FATAL_FAILURE(start("reset-keeps-counter-mode"));
  const auto list = in_order_list();
  ze_event_handle_t event = regular_event(), shared = regular_event(ZE_EVENT_POOL_FLAG_IPC);
  ASSERT_EQ(zeCommandListAppendBarrier(list, event, 0, nullptr), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListAppendBarrier(list, shared, 0, nullptr), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostReset(event), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventQueryStatus(event), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListAppendBarrier(list, nullptr, 1, &event), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(zeEventHostSignal(event), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
  EXPECT_EQ(zeEventHostReset(shared), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventQueryStatus(shared), ZE_RESULT_NOT_READY) << "of an IPC pool";
}

TEST_F(quirk, no_append_waits_for_a_counter_based_event_that_nothing_signals) {
  ASSERT_NO_FATAL_FAILURE(start("unsignalled-counter-wait-refused"));
  const auto list = in_order_list();
  auto* storage = shared_memory<uint64_t>(1);
  const ze_event_counter_based_external_sync_allocation_desc_t outside = {
      ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_SYNC_ALLOCATION_DESC, nullptr, storage,
      storage, 0};
  constexpr auto visible = ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE;
  ze_event_handle_t own = counter_event(), external = counter_event(visible, &outside),
                    shared = counter_event(visible | ZE_EVENT_COUNTER_BASED_FLAG_IPC),
                    regular = regular_event();
  const auto wait_for = [&](ze_event_handle_t event) {
    return zeCommandListAppendWaitOnEvents(list, 1, &event);
  };
  EXPECT_EQ(zeEventQueryStatus(own), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(own, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(wait_for(own), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(wait_for(shared), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(wait_for(external), ZE_RESULT_SUCCESS);
  for (auto each : {own, shared}) {
    ASSERT_EQ(zeCommandListAppendSignalEvent(list, each), ZE_RESULT_SUCCESS);
    EXPECT_EQ(wait_for(each), ZE_RESULT_SUCCESS);
  }
  EXPECT_EQ(wait_for(regular), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeEventHostSignal(regular), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
}

}  // namespace
}  // namespace zevent::driver::test
