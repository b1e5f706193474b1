// The appends of everything but kernels.

#include <cstdint>
#include <utility>
#include <vector>

#include "driver/allocation.hpp"
#include "driver/command_list.hpp"
#include "driver/event.hpp"
#include "driver/event_commands.hpp"
#include "driver/memory_commands.hpp"
#include "driver/quirks.hpp"
#include "driver_entry.hpp"

namespace zevent::driver {
namespace {

bool is_aligned(const void* address, size_t alignment) {
  return reinterpret_cast<uintptr_t>(address) % alignment == 0;
}

}  // namespace

namespace entry {

ze_result_t zeCommandListAppendBarrier(ze_command_list_handle_t hCommandList,
                                       ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
                                       ze_event_handle_t* phWaitEvents) {
  return with<command_list>(hCommandList, [&](command_list& list) {
    return list.append(make_barrier(), {hSignalEvent, numWaitEvents, phWaitEvents});
  });
}

// All memory is coherent here, so that the ranges add nothing to the barrier.
ze_result_t zeCommandListAppendMemoryRangesBarrier(ze_command_list_handle_t hCommandList, uint32_t,
                                                   const size_t*, const void**,
                                                   ze_event_handle_t hSignalEvent,
                                                   uint32_t numWaitEvents,
                                                   ze_event_handle_t* phWaitEvents) {
  return entry::zeCommandListAppendBarrier(hCommandList, hSignalEvent, numWaitEvents, phWaitEvents);
}

ze_result_t zeCommandListAppendMemoryCopy(ze_command_list_handle_t hCommandList, void* dstptr,
                                          const void* srcptr, size_t size,
                                          ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
                                          ze_event_handle_t* phWaitEvents) {
  return with<command_list>(hCommandList, [&](command_list& list) {
    return list.append(make_copy(dstptr, srcptr, size),
                       {hSignalEvent, numWaitEvents, phWaitEvents});
  });
}

ze_result_t zeCommandListAppendMemoryCopyWithParameters(ze_command_list_handle_t hCommandList,
                                                        void* dstptr, const void* srcptr,
                                                        size_t size, const void*,
                                                        ze_event_handle_t hSignalEvent,
                                                        uint32_t numWaitEvents,
                                                        ze_event_handle_t* phWaitEvents) {
  return entry::zeCommandListAppendMemoryCopy(hCommandList, dstptr, srcptr, size, hSignalEvent,
                                              numWaitEvents, phWaitEvents);
}

ze_result_t zeCommandListAppendMemoryCopyFromContext(ze_command_list_handle_t hCommandList,
                                                     void* dstptr, ze_context_handle_t hContextSrc,
                                                     const void* srcptr, size_t size,
                                                     ze_event_handle_t hSignalEvent,
                                                     uint32_t numWaitEvents,
                                                     ze_event_handle_t* phWaitEvents) {
  return with<context>(hContextSrc, [&](context&) {
    return entry::zeCommandListAppendMemoryCopy(hCommandList, dstptr, srcptr, size, hSignalEvent,
                                                numWaitEvents, phWaitEvents);
  });
}

ze_result_t zeCommandListAppendMemoryFill(ze_command_list_handle_t hCommandList, void* ptr,
                                          const void* pattern, size_t pattern_size, size_t size,
                                          ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
                                          ze_event_handle_t* phWaitEvents) {
  return with<command_list>(hCommandList, [&](command_list& list) {
    const size_t longest = device::longest_fill_pattern_bytes(list.queue_group_ordinal());
    const bool power_of_two = pattern_size != 0 && (pattern_size & (pattern_size - 1)) == 0;
    if (!power_of_two || pattern_size > longest) return ZE_RESULT_ERROR_INVALID_SIZE;
    if (has_quirk(quirk::no_shared_system_memory) && !allocation_registry::instance().find(ptr)) {
      return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    return list.append(make_fill(ptr, pattern, pattern_size, size),
                       {hSignalEvent, numWaitEvents, phWaitEvents});
  });
}

ze_result_t zeCommandListAppendMemoryFillWithParameters(ze_command_list_handle_t hCommandList,
                                                        void* ptr, const void* pattern,
                                                        size_t pattern_size, size_t size,
                                                        const void*, ze_event_handle_t hSignalEvent,
                                                        uint32_t numWaitEvents,
                                                        ze_event_handle_t* phWaitEvents) {
  return entry::zeCommandListAppendMemoryFill(hCommandList, ptr, pattern, pattern_size, size,
                                              hSignalEvent, numWaitEvents, phWaitEvents);
}

ze_result_t zeCommandListAppendMemoryCopyRegion(
    ze_command_list_handle_t hCommandList, void* dstptr, const ze_copy_region_t* dstRegion,
    uint32_t dstPitch, uint32_t dstSlicePitch, const void* srcptr,
    const ze_copy_region_t* srcRegion, uint32_t srcPitch, uint32_t srcSlicePitch,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t* phWaitEvents) {
  return with<command_list>(hCommandList, [&](command_list& list) {
    std::unique_ptr<command> work;
    const ze_result_t result =
        make_region_copy({dstptr, *dstRegion, dstPitch, dstSlicePitch},
                         {srcptr, *srcRegion, srcPitch, srcSlicePitch}, &work);
    if (result != ZE_RESULT_SUCCESS) return result;
    return list.append(std::move(work), {hSignalEvent, numWaitEvents, phWaitEvents});
  });
}

// Memory does not move between host and device here: hints are heard and change nothing.
ze_result_t zeCommandListAppendMemoryPrefetch(ze_command_list_handle_t hCommandList, const void*,
                                              size_t) {
  return with<command_list>(
      hCommandList, [](command_list& list) { return list.append(make_no_operation(), {}); });
}

ze_result_t zeCommandListAppendMemAdvise(ze_command_list_handle_t hCommandList,
                                         ze_device_handle_t hDevice, const void*, size_t,
                                         ze_memory_advice_t) {
  return with<command_list>(hCommandList, [&](command_list& list) {
    return with<device>(hDevice, [&](device&) { return list.append(make_no_operation(), {}); });
  });
}

ze_result_t zeCommandListAppendSignalEvent(ze_command_list_handle_t hCommandList,
                                           ze_event_handle_t hEvent) {
  return with<command_list>(hCommandList, [&](command_list& list) {
    return list.append(make_signal(), {.signal = hEvent});
  });
}

ze_result_t zeCommandListAppendWaitOnEvents(ze_command_list_handle_t hCommandList,
                                            uint32_t numEvents, ze_event_handle_t* phEvents) {
  return with<command_list>(hCommandList, [&](command_list& list) {
    // EV-20: with no events this is undefined; here it holds nothing back.
    return list.append(numEvents > 0 ? make_barrier() : make_no_operation(),
                       {nullptr, numEvents, phEvents});
  });
}

ze_result_t zeCommandListAppendEventReset(ze_command_list_handle_t hCommandList,
                                          ze_event_handle_t hEvent) {
  return with<command_list>(hCommandList, [&](command_list& list) {
    return with<event>(hEvent, [&](event& target) {
      if (target.is_counter_based()) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
      return list.append(make_event_reset(target), {});
    });
  });
}

ze_result_t zeCommandListAppendWriteGlobalTimestamp(ze_command_list_handle_t hCommandList,
                                                    uint64_t* dstptr,
                                                    ze_event_handle_t hSignalEvent,
                                                    uint32_t numWaitEvents,
                                                    ze_event_handle_t* phWaitEvents) {
  return with<command_list>(hCommandList, [&](command_list& list) {
    if (!is_aligned(dstptr, sizeof(uint64_t))) return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
    return list.append(make_global_timestamp(list.owner_device(), dstptr),
                       {hSignalEvent, numWaitEvents, phWaitEvents});
  });
}

ze_result_t zeCommandListAppendHostFunction(ze_command_list_handle_t hCommandList,
                                            ze_host_function_callback_t pfnHostFunction,
                                            void* pUserData, const void*,
                                            ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
                                            ze_event_handle_t* phWaitEvents) {
  return with<command_list>(hCommandList, [&](command_list& list) {
    if (pfnHostFunction == nullptr) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    return list.append(make_host_function(pfnHostFunction, pUserData),
                       {hSignalEvent, numWaitEvents, phWaitEvents});
  });
}

ze_result_t zeCommandListAppendQueryKernelTimestamps(
    ze_command_list_handle_t hCommandList, uint32_t numEvents, ze_event_handle_t* phEvents,
    void* dstptr, const size_t* pOffsets, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t* phWaitEvents) {
  return with<command_list>(hCommandList, [&](command_list& list) {
    std::vector<ref<event>> events;
    for (uint32_t i = 0; i < numEvents; ++i) {
      events.emplace_back(try_from_handle<event>(phEvents[i]));
      if (!events.back() || !events.back()->has_timestamps()) {
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
      }
    }
    std::vector<size_t> offsets;
    if (pOffsets != nullptr) offsets.assign(pOffsets, pOffsets + numEvents);
    return list.append(
        make_timestamp_query(list.owner_device(), std::move(events), dstptr, std::move(offsets)),
        {hSignalEvent, numWaitEvents, phWaitEvents});
  });
}

ze_result_t zeContextSystemBarrier(ze_context_handle_t hContext, ze_device_handle_t hDevice) {
  return with<context>(hContext, [&](context&) {
    return with<device>(hDevice, [](device&) { return ZE_RESULT_SUCCESS; });
  });
}

}  // namespace entry
}  // namespace zevent::driver
