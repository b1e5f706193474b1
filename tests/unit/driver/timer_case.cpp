// A coarse clock of few bits: run with ZEVENT_TIMER_FREQUENCY=1000000 and 12 bits of either kind,
// so that it wraps every 4 milliseconds.

#include "driver_fixture.hpp"

namespace zevent::driver::test {
namespace {

class coarse_clock : public driver_fixture {};

TEST_F(coarse_clock, tells_its_resolution_and_its_bits) {
  ze_device_properties_t properties = {};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
  ASSERT_EQ(zeDeviceGetProperties(device_, &properties), ZE_RESULT_SUCCESS);
  EXPECT_EQ(properties.timerResolution, 1000u) << "nanoseconds a tick";
  EXPECT_EQ(properties.timestampValidBits, 12u);
  EXPECT_EQ(properties.kernelTimestampValidBits, 12u);
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
  ASSERT_EQ(zeDeviceGetProperties(device_, &properties), ZE_RESULT_SUCCESS);
  EXPECT_EQ(properties.timerResolution, 1'000'000u) << "ticks a second";
}

TEST_F(coarse_clock, wraps) {
  uint64_t host = 0;
  uint64_t last = 0;
  uint64_t now = 0;
  ASSERT_EQ(zeDeviceGetGlobalTimestamps(device_, &host, &last), ZE_RESULT_SUCCESS);
  bool wrapped = false;
  while (!wrapped) {
    ASSERT_EQ(zeDeviceGetGlobalTimestamps(device_, &host, &now), ZE_RESULT_SUCCESS);
    ASSERT_LT(now, 1u << 12);
    wrapped = now < last;
    last = now;
  }
}

TEST_F(coarse_clock, is_the_host_clock_in_ticks) {
  uint64_t host = 0;
  uint64_t device = 0;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(zeDeviceGetGlobalTimestamps(device_, &host, &device), ZE_RESULT_SUCCESS);
    ASSERT_EQ(device, host / 1000 % (1 << 12));
  }
}

TEST_F(coarse_clock, stamps_events_within_its_bits) {
  const auto event =
      regular_event(ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
  ASSERT_EQ(zeCommandListAppendSignalEvent(in_order_list(), event), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS);
  ze_kernel_timestamp_result_t times = {};
  ASSERT_EQ(zeEventQueryKernelTimestamp(event, &times), ZE_RESULT_SUCCESS);
  EXPECT_LT(times.global.kernelStart, 1u << 12);
  EXPECT_LT(times.global.kernelEnd, 1u << 12);
}

}  // namespace
}  // namespace zevent::driver::test
