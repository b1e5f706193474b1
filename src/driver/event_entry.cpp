#include <cstring>

#include "api/zex_api.h"
#include "driver/device.hpp"
#include "driver/driver.hpp"
#include "driver/event.hpp"
#include "driver/quirks.hpp"
#include "driver_entry.hpp"

namespace zevent::driver {
namespace {

// The counters of in-order lists have 64 bits; half of them is more than any list counts to.
constexpr uint64_t counter_maximum = INT64_MAX;

// The descriptors of the standard and of the zex functions differ in their stype alone.
template <typename T>
const T* find_either(const void* chain, ze_structure_type_t standard, uint32_t experimental) {
  if (const T* found = find_in_chain<T>(chain, standard)) return found;
  return find_in_chain<T>(chain, static_cast<ze_structure_type_t>(experimental));
}

ze_result_t read_storage(const void* chain, counter_event_desc& desc) {
  using external_desc = ze_event_counter_based_external_sync_allocation_desc_t;
  using aggregate_desc = ze_event_counter_based_external_aggregate_storage_desc_t;
  const auto* external = find_either<external_desc>(
      chain, ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_SYNC_ALLOCATION_DESC,
      ZEX_STRUCTURE_TYPE_COUNTER_BASED_EVENT_EXTERNAL_SYNC_ALLOCATION_DESC);
  const auto* aggregate = find_either<aggregate_desc>(
      chain, ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_AGGREGATE_STORAGE_DESC,
      ZEX_STRUCTURE_TYPE_COUNTER_BASED_EVENT_EXTERNAL_AGGREGATE_STORAGE_DESC);
  if (external != nullptr && aggregate != nullptr) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  if (external != nullptr) {
    desc.where = counter_event_desc::storage::external;
    desc.device_address = external->deviceAddress;
    desc.host_address = external->hostAddress;
    desc.completion_value = external->completionValue;
  } else if (aggregate != nullptr) {
    if (aggregate->incrementValue == 0) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    desc.where = counter_event_desc::storage::aggregate;
    desc.device_address = aggregate->deviceAddress;
    desc.increment = aggregate->incrementValue;
    desc.completion_value = aggregate->completionValue;
  }
  return ZE_RESULT_SUCCESS;
}

// The flags that say which lists may signal an event, as they hold.
ze_event_counter_based_flags_t kinds_of_lists(ze_event_counter_based_flags_t flags) {
  constexpr auto kinds =
      ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE | ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE;
  constexpr uint32_t default_kind = ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE;
  return (flags & kinds) != 0 ? flags & kinds : default_kind;
}

ze_result_t check(const counter_event_desc& desc) {
  constexpr auto times =
      ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP | ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP;
  const uint32_t own_times = desc.flags & times;
  if (own_times == times && !has_quirk(quirk::accepts_both_timestamp_flags)) {
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  }
  if (own_times != 0 && (desc.flags & ZE_EVENT_COUNTER_BASED_FLAG_IPC) != 0) {
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  }
  if (desc.where == counter_event_desc::storage::own) return ZE_RESULT_SUCCESS;
  const auto misaligned = [](const uint64_t* address) {
    return reinterpret_cast<uintptr_t>(address) % sizeof(uint64_t) != 0;
  };
  if (desc.device_address == nullptr || desc.completion_value > counter_maximum ||
      misaligned(desc.device_address) || misaligned(desc.host_address)) {
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t create_counter_event(ze_context_handle_t owner, ze_device_handle_t target,
                                 const counter_event_desc& desc, ze_event_handle_t* out) {
  if (owner == nullptr && has_quirk(quirk::accepts_null_context)) {
    owner = to_handle<ze_context_handle_t>(&driver::instance().default_context());
  }
  return with<context>(owner, [&](context& parent) {
    return with<device>(target, [&](device& own) {
      if (!parent.contains(own)) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
      ze_result_t result = check(desc);
      if (result != ZE_RESULT_SUCCESS) return result;
      event* made = nullptr;
      result = event::create(parent, desc, &made);
      if (result == ZE_RESULT_SUCCESS) *out = to_handle<ze_event_handle_t>(made);
      return result;
    });
  });
}

ze_result_t open_counter_event(ze_context_handle_t owner, const ipc_handle& handle,
                               ze_event_handle_t* out) {
  return with<context>(owner, [&](context& parent) {
    event* opened = nullptr;
    const ze_result_t result = event::open(parent, handle, &opened);
    if (result == ZE_RESULT_SUCCESS) {
      *out = to_handle<ze_event_handle_t>(opened);
      return result;
    }
    return result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY ? result
                                                        : ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  });
}

ze_result_t close_counter_event(ze_event_handle_t handle) {
  return with<event>(handle, [](event& opened) {
    if (!opened.is_imported()) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    opened.destroy_handle();
    return ZE_RESULT_SUCCESS;
  });
}

}  // namespace

namespace entry {

ze_result_t zeEventCounterBasedCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                      const ze_event_counter_based_desc_t* desc,
                                      ze_event_handle_t* phEvent) {
  counter_event_desc own;
  own.flags = desc->flags;
  own.signal_scope = desc->signal;
  own.wait_scope = desc->wait;
  const ze_result_t result = read_storage(desc->pNext, own);
  return result != ZE_RESULT_SUCCESS ? result
                                     : create_counter_event(hContext, hDevice, own, phEvent);
}

ze_result_t zexCounterBasedEventCreate2(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                        const zex_counter_based_event_desc_t* desc,
                                        ze_event_handle_t* phEvent) {
  counter_event_desc own;
  if (desc == nullptr) {
    own.flags = ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE | ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE |
                ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE;
    own.signal_scope = ZE_EVENT_SCOPE_FLAG_HOST;
    own.wait_scope = ZE_EVENT_SCOPE_FLAG_DEVICE;
    return create_counter_event(hContext, hDevice, own, phEvent);
  }
  own.flags = desc->flags;
  own.signal_scope = desc->signalScope;
  own.wait_scope = desc->waitScope;
  const ze_result_t result = read_storage(desc->pNext, own);
  return result != ZE_RESULT_SUCCESS ? result
                                     : create_counter_event(hContext, hDevice, own, phEvent);
}

ze_result_t zexCounterBasedEventCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                       uint64_t* deviceAddress, uint64_t* hostAddress,
                                       uint64_t completionValue, const ze_event_desc_t* desc,
                                       ze_event_handle_t* phEvent) {
  counter_event_desc own;
  own.flags = ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE | ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE |
              ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE;
  own.signal_scope = desc->signal;
  own.wait_scope = desc->wait;
  if (deviceAddress != nullptr || hostAddress != nullptr) {
    own.where = counter_event_desc::storage::external;
    own.device_address = deviceAddress;
    own.host_address = hostAddress;
    own.completion_value = completionValue;
  }
  return create_counter_event(hContext, hDevice, own, phEvent);
}

ze_result_t zeEventDestroy(ze_event_handle_t hEvent) {
  return with<event>(hEvent, [](event& target) {
    target.destroy_handle();
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeEventHostSignal(ze_event_handle_t hEvent) noexcept {
  return with<event>(hEvent, [](event& target) { return target.host_signal(); });
}

ze_result_t zeEventHostReset(ze_event_handle_t hEvent) noexcept {
  return with<event>(hEvent, [](event& target) { return target.host_reset(); });
}

ze_result_t zeEventHostSynchronize(ze_event_handle_t hEvent, uint64_t timeout) {
  return with<event>(hEvent, [&](event& target) { return target.host_synchronize(timeout); });
}

ze_result_t zeEventGetEventPool(ze_event_handle_t hEvent, ze_event_pool_handle_t* phEventPool) {
  return with<event>(hEvent, [&](event& target) {
    *phEventPool = to_handle<ze_event_pool_handle_t>(target.pool());
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeEventGetSignalScope(ze_event_handle_t hEvent, ze_event_scope_flags_t* pSignalScope) {
  return with<event>(hEvent, [&](event& target) {
    *pSignalScope = target.signal_scope();
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeEventGetWaitScope(ze_event_handle_t hEvent, ze_event_scope_flags_t* pWaitScope) {
  return with<event>(hEvent, [&](event& target) {
    *pWaitScope = target.wait_scope();
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeEventGetCounterBasedFlags(ze_event_handle_t hEvent,
                                        ze_event_counter_based_flags_t* pFlags) {
  return with<event>(hEvent, [&](event& target) {
    *pFlags = has_quirk(quirk::partial_counter_flags) ? kinds_of_lists(target.counter_flags())
                                                      : target.counter_flags();
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeEventCounterBasedGetDeviceAddress(ze_event_handle_t hEvent, uint64_t* completionValue,
                                                uint64_t* deviceAddress) {
  return with<event>(
      hEvent, [&](event& target) { return target.device_address(completionValue, deviceAddress); });
}

ze_result_t zexEventGetDeviceAddress(ze_event_handle_t hEvent, uint64_t* completionValue,
                                     uint64_t* address) {
  return entry::zeEventCounterBasedGetDeviceAddress(hEvent, completionValue, address);
}

ze_result_t zeEventCounterBasedGetIpcHandle(ze_event_handle_t hEvent,
                                            ze_ipc_event_counter_based_handle_t* phIpc) {
  return with<event>(hEvent, [&](event& target) {
    ipc_handle handle{};
    const ze_result_t result = target.export_handle(&handle);
    if (result == ZE_RESULT_SUCCESS) store_ipc_handle(handle, phIpc);
    return result;
  });
}

ze_result_t zexCounterBasedEventGetIpcHandle(ze_event_handle_t hEvent,
                                             zex_ipc_counter_based_event_handle_t* phIpc) {
  ze_ipc_event_counter_based_handle_t handle{};
  const ze_result_t result = entry::zeEventCounterBasedGetIpcHandle(hEvent, &handle);
  if (result == ZE_RESULT_SUCCESS) std::memcpy(phIpc->data, handle.data, sizeof handle.data);
  return result;
}

ze_result_t zeEventCounterBasedOpenIpcHandle(ze_context_handle_t hContext,
                                             ze_ipc_event_counter_based_handle_t hIpc,
                                             ze_event_handle_t* phEvent) {
  return open_counter_event(hContext, load_ipc_handle(hIpc), phEvent);
}

ze_result_t zexCounterBasedEventOpenIpcHandle(ze_context_handle_t hContext,
                                              zex_ipc_counter_based_event_handle_t hIpc,
                                              ze_event_handle_t* phEvent) {
  return open_counter_event(hContext, load_ipc_handle(hIpc), phEvent);
}

ze_result_t zeEventCounterBasedCloseIpcHandle(ze_event_handle_t hEvent) {
  return close_counter_event(hEvent);
}

ze_result_t zexCounterBasedEventCloseIpcHandle(ze_event_handle_t hEvent) {
  return close_counter_event(hEvent);
}

ze_result_t zeDeviceGetCounterBasedEventMaxValue(ze_device_handle_t hDevice, uint64_t* maxValue) {
  return with<device>(hDevice, [&](device&) {
    if (has_quirk(quirk::no_counter_maximum)) return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    *maxValue = counter_maximum;
    return ZE_RESULT_SUCCESS;
  });
}

// Copies are not split here, so that each adds once.
ze_result_t zeDeviceGetAggregatedCopyOffloadIncrementValue(ze_device_handle_t hDevice,
                                                           uint32_t* incrementValue) {
  return with<device>(hDevice, [&](device&) {
    *incrementValue = 1;
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zexDeviceGetAggregatedCopyOffloadIncrementValue(ze_device_handle_t hDevice,
                                                            uint32_t* incrementValue) {
  return entry::zeDeviceGetAggregatedCopyOffloadIncrementValue(hDevice, incrementValue);
}

}  // namespace entry
}  // namespace zevent::driver

// In the place of the generated function: the question that programs ask most has no jump to spare.
ze_result_t zeEventQueryStatus(ze_event_handle_t hEvent) {
  using namespace zevent::driver;
  if (hEvent == nullptr) [[unlikely]] {
    return answer_misuse(zevent::quirk::crash_on_null_handle, ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                         "zeEventQueryStatus");
  }
  return with<event>(hEvent, [](event& target) { return target.query(); });
}
