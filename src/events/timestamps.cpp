#include "events/timestamps.hpp"

#include <cmath>

#include "events/check.hpp"

namespace zevent {

timestamp_clock timestamp_clock::of(ze_device_handle_t device) {
  ze_device_properties_t properties{};
  // With this type, and only with it, the resolution is in cycles a second.
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
  check(zeDeviceGetProperties(device, &properties), "zeDeviceGetProperties");
  timestamp_clock clock;
  if (properties.timerResolution != 0) {
    clock.tick_ns = 1e9 / static_cast<double>(properties.timerResolution);
  }
  const uint32_t bits = properties.kernelTimestampValidBits;
  if (bits > 0 && bits < 64) clock.valid_mask = (uint64_t{1} << bits) - 1;
  return clock;
}

std::chrono::nanoseconds timestamp_clock::between(uint64_t start_ticks,
                                                  uint64_t end_ticks) const noexcept {
  const uint64_t ticks = (end_ticks - start_ticks) & valid_mask;
  return std::chrono::nanoseconds(std::llround(static_cast<double>(ticks) * tick_ns));
}

ze_kernel_timestamp_result_t query_timestamps(ze_event_handle_t event) {
  ze_kernel_timestamp_result_t times{};
  check(zeEventQueryKernelTimestamp(event, &times), "zeEventQueryKernelTimestamp");
  return times;
}

std::chrono::nanoseconds duration_of(const ze_kernel_timestamp_result_t& times,
                                     const timestamp_clock& clock) noexcept {
  return clock.between(times.global.kernelStart, times.global.kernelEnd);
}

}  // namespace zevent
