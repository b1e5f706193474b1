#include "driver_fixture.hpp"

namespace zevent::driver::test {
namespace {

class timestamps : public driver_fixture {
 protected:
  ze_event_handle_t timed_event() {
    return regular_event(ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
  }

  uint64_t device_now() {
    uint64_t host = 0;
    uint64_t device = 0;
    EXPECT_EQ(zeDeviceGetGlobalTimestamps(device_, &host, &device), ZE_RESULT_SUCCESS);
    return device;
  }
};

TEST_F(timestamps, of_host_and_device_advance_together) {
  uint64_t host_before = 0;
  uint64_t device_before = 0;
  uint64_t host_after = 0;
  uint64_t device_after = 0;
  ASSERT_EQ(zeDeviceGetGlobalTimestamps(device_, &host_before, &device_before), ZE_RESULT_SUCCESS);
  while (device_now() == device_before) continue;
  ASSERT_EQ(zeDeviceGetGlobalTimestamps(device_, &host_after, &device_after), ZE_RESULT_SUCCESS);
  EXPECT_EQ(host_after - host_before, device_after - device_before)
      << "the default resolution is a nanosecond";
}

TEST_F(timestamps, of_an_event_lie_between_the_append_and_the_wait) {
  const auto event = timed_event();
  const auto list = in_order_list();
  const uint64_t before = device_now();
  ASSERT_EQ(zeCommandListAppendBarrier(list, event, 0, nullptr), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS);
  const uint64_t after = device_now();
  ze_kernel_timestamp_result_t times = {};
  ASSERT_EQ(zeEventQueryKernelTimestamp(event, &times), ZE_RESULT_SUCCESS);
  EXPECT_GE(times.global.kernelStart, before);
  EXPECT_GT(times.global.kernelEnd, times.global.kernelStart);
  EXPECT_LE(times.global.kernelEnd, after + 1);
  EXPECT_EQ(times.context.kernelStart, times.global.kernelStart);
}

TEST_F(timestamps, of_an_event_that_is_not_signalled_are_not_ready) {
  const auto event = timed_event();
  ze_kernel_timestamp_result_t times = {{1, 2}, {3, 4}};
  EXPECT_EQ(zeEventQueryKernelTimestamp(event, &times), ZE_RESULT_NOT_READY);
  EXPECT_EQ(times.global.kernelStart, 1u) << "the destination is left alone";
  EXPECT_EQ(times.context.kernelEnd, 4u);
}

TEST_F(timestamps, are_not_to_be_had_of_an_event_without_them) {
  const auto event = regular_event();
  ASSERT_EQ(zeEventHostSignal(event), ZE_RESULT_SUCCESS);
  ze_kernel_timestamp_result_t times = {};
  EXPECT_NE(zeEventQueryKernelTimestamp(event, &times), ZE_RESULT_SUCCESS);
}

TEST_F(timestamps, are_renewed_when_an_event_is_used_again) {
  const auto event = timed_event();
  const auto list = in_order_list();
  uint64_t last_end = 0;
  for (int round = 0; round < 5; ++round) {
    ASSERT_EQ(zeCommandListAppendSignalEvent(list, event), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS);
    ze_kernel_timestamp_result_t times = {};
    ASSERT_EQ(zeEventQueryKernelTimestamp(event, &times), ZE_RESULT_SUCCESS);
    EXPECT_GE(times.global.kernelStart, last_end);
    last_end = times.global.kernelEnd;
    ASSERT_EQ(zeEventHostReset(event), ZE_RESULT_SUCCESS);
  }
}

TEST_F(timestamps, of_counter_based_events_are_those_of_the_last_signal) {
  const auto event = counter_event(ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE |
                                   ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE |
                                   ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP);
  const auto list = in_order_list();
  const uint64_t before = device_now();
  ASSERT_EQ(zeCommandListAppendSignalEvent(list, event), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS);
  ze_kernel_timestamp_result_t times = {};
  ASSERT_EQ(zeEventQueryKernelTimestamp(event, &times), ZE_RESULT_SUCCESS);
  EXPECT_GE(times.global.kernelStart, before);
}

TEST_F(timestamps, mapped_to_the_host_are_in_host_time) {
  const auto event =
      regular_event(ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP);
  const auto list = in_order_list();
  uint64_t host_before = 0;
  uint64_t host_after = 0;
  uint64_t device = 0;
  ASSERT_EQ(zeDeviceGetGlobalTimestamps(device_, &host_before, &device), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListAppendBarrier(list, event, 0, nullptr), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeDeviceGetGlobalTimestamps(device_, &host_after, &device), ZE_RESULT_SUCCESS);

  uint32_t count = 0;
  ze_kernel_timestamp_result_t times = {};
  ze_synchronized_timestamp_result_ext_t mapped = {};
  ze_event_query_kernel_timestamps_results_ext_properties_t results = {
      ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_RESULTS_EXT_PROPERTIES, nullptr, &times,
      &mapped};
  ASSERT_EQ(zeEventQueryKernelTimestampsExt(event, device_, &count, nullptr), ZE_RESULT_SUCCESS);
  ASSERT_EQ(count, 1u);
  ASSERT_EQ(zeEventQueryKernelTimestampsExt(event, device_, &count, &results), ZE_RESULT_SUCCESS);
  EXPECT_GE(mapped.global.kernelStart, host_before);
  EXPECT_LE(mapped.global.kernelEnd, host_after + 1);
}

TEST_F(timestamps, are_told_in_two_calls) {
  const auto event = timed_event();
  ASSERT_EQ(zeCommandListAppendSignalEvent(in_order_list(), event), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS);
  uint32_t count = 0;
  ASSERT_EQ(zeEventQueryTimestampsExp(event, device_, &count, nullptr), ZE_RESULT_SUCCESS);
  ASSERT_EQ(count, 1u);
  ze_kernel_timestamp_result_t times = {};
  ASSERT_EQ(zeEventQueryTimestampsExp(event, device_, &count, &times), ZE_RESULT_SUCCESS);
  EXPECT_GT(times.global.kernelStart, 0u);
}

// As Intel's driver answers; what cannot be had is the timestamps.
TEST_F(timestamps, of_an_event_without_them_are_counted_and_not_told) {
  const auto event = event_of(pool(1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE), 0);
  uint32_t count = 0;
  EXPECT_EQ(zeEventQueryTimestampsExp(event, device_, &count, nullptr), ZE_RESULT_SUCCESS);
  EXPECT_EQ(count, 1u);
  ze_kernel_timestamp_result_t times = {};
  EXPECT_EQ(zeEventQueryTimestampsExp(event, device_, &count, &times),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  count = 0;
  EXPECT_EQ(zeEventQueryKernelTimestampsExt(event, device_, &count, nullptr), ZE_RESULT_SUCCESS);
  EXPECT_EQ(count, 1u);
}

TEST_F(timestamps, are_written_by_the_device) {
  const auto from = pool(2, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
  std::vector<ze_event_handle_t> events = {event_of(from, 0), event_of(from, 1)};
  const auto list = in_order_list();
  for (const auto each : events) {
    ASSERT_EQ(zeCommandListAppendSignalEvent(list, each), ZE_RESULT_SUCCESS);
  }
  auto* written = shared_memory<ze_kernel_timestamp_result_t>(4);
  const size_t offsets[] = {3 * sizeof *written, 2 * sizeof *written};
  ASSERT_EQ(zeCommandListAppendQueryKernelTimestamps(list, 2, events.data(), written, nullptr,
                                                     nullptr, 0, nullptr),
            ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListAppendQueryKernelTimestamps(list, 2, events.data(), written, offsets,
                                                     nullptr, 0, nullptr),
            ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
  for (size_t i = 0; i < 2; ++i) {
    ze_kernel_timestamp_result_t expected = {};
    ASSERT_EQ(zeEventQueryKernelTimestamp(events[i], &expected), ZE_RESULT_SUCCESS);
    EXPECT_EQ(written[i].global.kernelStart, expected.global.kernelStart);
    EXPECT_EQ(written[3 - i].global.kernelEnd, expected.global.kernelEnd);
  }
}

TEST_F(timestamps, global_ones_are_written_in_the_order_of_the_list) {
  const auto list = in_order_list();
  auto* written = shared_memory<uint64_t>(3);
  const uint64_t before = device_now();
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(zeCommandListAppendWriteGlobalTimestamp(list, &written[i], nullptr, 0, nullptr),
              ZE_RESULT_SUCCESS);
  }
  ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
  EXPECT_GE(written[0], before);
  EXPECT_GE(written[1], written[0]);
  EXPECT_GE(written[2], written[1]);
  auto* odd = reinterpret_cast<uint64_t*>(reinterpret_cast<char*>(written) + 1);
  EXPECT_NE(zeCommandListAppendWriteGlobalTimestamp(list, odd, nullptr, 0, nullptr),
            ZE_RESULT_SUCCESS);
}

}  // namespace
}  // namespace zevent::driver::test
