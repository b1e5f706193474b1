#include "driver/event.hpp"
#include "driver/event_commands.hpp"
#include "driver/stream.hpp"
#include "driver_entry.hpp"

namespace zevent::driver::entry {

ze_result_t zeDeviceGetGlobalTimestamps(ze_device_handle_t hDevice, uint64_t* hostTimestamp,
                                        uint64_t* deviceTimestamp) {
  return with<device>(hDevice, [&](device& target) {
    const uint64_t now_ns = device_clock::host_now_ns();
    *hostTimestamp = now_ns;
    *deviceTimestamp = target.clock().global_timestamp(target.clock().to_ticks(now_ns));
    return ZE_RESULT_SUCCESS;
  });
}

// EV-29: before the signal the destination is left alone.
ze_result_t zeEventQueryKernelTimestamp(ze_event_handle_t hEvent,
                                        ze_kernel_timestamp_result_t* dstptr) {
  return with<event>(hEvent, [&](event& target) {
    if (!target.has_timestamps()) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    const ze_result_t status = target.query();
    if (status != ZE_RESULT_SUCCESS) return status;
    *dstptr = kernel_timestamps(*target.owner().devices().front(), target);
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeEventQueryTimestampsExp(ze_event_handle_t hEvent, ze_device_handle_t hDevice,
                                      uint32_t* pCount, ze_kernel_timestamp_result_t* pTimestamps) {
  return with<event>(hEvent, [&](event& target) {
    return with<device>(hDevice, [&](device& on) {
      // The count of packets is told of any event, as by Intel's driver.
      const bool only_counts = *pCount == 0;
      if (!only_counts && !target.has_timestamps()) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
      *pCount = 1;
      if (only_counts || pTimestamps == nullptr) return ZE_RESULT_SUCCESS;
      const ze_result_t status = target.query();
      if (status != ZE_RESULT_SUCCESS) return status;
      pTimestamps[0] = kernel_timestamps(on, target);
      return ZE_RESULT_SUCCESS;
    });
  });
}

ze_result_t zeEventQueryKernelTimestampsExt(
    ze_event_handle_t hEvent, ze_device_handle_t hDevice, uint32_t* pCount,
    ze_event_query_kernel_timestamps_results_ext_properties_t* pResults) {
  return with<event>(hEvent, [&](event& target) {
    return with<device>(hDevice, [&](device& on) {
      const bool only_counts = *pCount == 0;
      if (!only_counts && !target.has_timestamps()) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
      *pCount = 1;
      if (only_counts || pResults == nullptr) return ZE_RESULT_SUCCESS;
      const ze_result_t status = target.query();
      if (status != ZE_RESULT_SUCCESS) return status;
      if (pResults->pKernelTimestampsBuffer != nullptr) {
        pResults->pKernelTimestampsBuffer[0] = kernel_timestamps(on, target);
      }
      if (target.has_mapped_timestamps() && pResults->pSynchronizedTimestampsBuffer != nullptr) {
        const auto [start_ns, end_ns] = target.timestamps_ns();
        const ze_synchronized_timestamp_data_ext_t times = {start_ns, end_ns};
        pResults->pSynchronizedTimestampsBuffer[0] = {times, times};
      }
      return ZE_RESULT_SUCCESS;
    });
  });
}

// EV-19: never returns while the device is blocked on an event that nobody signals.
ze_result_t zeDeviceSynchronize(ze_device_handle_t hDevice) {
  return with<device>(hDevice, [](device& target) {
    for (const ref<stream>& each : stream::all()) {
      if (!each->target().is_part_of(target)) continue;
      const ze_result_t result = each->synchronize(UINT64_MAX);
      if (result != ZE_RESULT_SUCCESS) return result;
    }
    return ZE_RESULT_SUCCESS;
  });
}

}  // namespace zevent::driver::entry
