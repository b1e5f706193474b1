#include "fake_level_zero.hpp"

#include <cstring>
#include <memory>
#include <string_view>

namespace fake {
namespace {

std::unique_ptr<level_zero> current;
int driver_object;
int device_object;
int context_object;
int named_objects[64];

struct pool {
  bool counter_based;
};

ze_driver_handle_t driver() {
  return reinterpret_cast<ze_driver_handle_t>(&driver_object);
}

// Two-call getters of one thing.
template <typename Handle>
ze_result_t give_one(uint32_t* count, Handle* out, Handle value) {
  if (*count > 0 && out != nullptr) *out = value;
  *count = 1;
  return ZE_RESULT_SUCCESS;
}

ze_event_handle_t new_event(bool counter_based) {
  auto* made = new event;
  made->counter_based = counter_based;
  made->signalled = counter_based;
  ++current->live_events;
  return reinterpret_cast<ze_event_handle_t>(made);
}

ze_result_t destroy(ze_event_handle_t handle) {
  delete &of(handle);
  --current->live_events;
  return ZE_RESULT_SUCCESS;
}

ze_result_t create_counter_based(bool offered, const ze_event_counter_based_desc_t* desc,
                                 ze_event_handle_t* out) {
  if (!offered) return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  current->counter_flags.push_back(desc->flags);
  *out = new_event(true);
  return ZE_RESULT_SUCCESS;
}

ze_result_t extension_create(ze_context_handle_t, ze_device_handle_t,
                             const ze_event_counter_based_desc_t* desc, ze_event_handle_t* out) {
  if (desc->stype != 0x0003001C) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  return create_counter_based(current->extension_counter_based, desc, out);
}

ze_result_t append(command made, uint32_t wait_count, ze_event_handle_t* waits) {
  if (current->commands.size() == current->failing_append) {
    return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  }
  made.waits.assign(waits, waits + wait_count);
  current->commands.push_back(std::move(made));
  return ZE_RESULT_SUCCESS;
}

}  // namespace

level_zero& install() {
  current = std::make_unique<level_zero>();
  return *current;
}

ze_context_handle_t context() {
  return reinterpret_cast<ze_context_handle_t>(&context_object);
}
ze_device_handle_t device() {
  return reinterpret_cast<ze_device_handle_t>(&device_object);
}
ze_event_handle_t named_event(int number) {
  return reinterpret_cast<ze_event_handle_t>(&named_objects[number]);
}

}  // namespace fake

using namespace fake;

ze_result_t zeDriverGet(uint32_t* count, ze_driver_handle_t* out) {
  return give_one(count, out, driver());
}
ze_result_t zeDeviceGet(ze_driver_handle_t, uint32_t* count, ze_device_handle_t* out) {
  return give_one(count, out, device());
}
ze_result_t zeDeviceGetSubDevices(ze_device_handle_t, uint32_t* count, ze_device_handle_t*) {
  *count = 0;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeDeviceGetProperties(ze_device_handle_t, ze_device_properties_t* properties) {
  properties->timerResolution = 500'000'000;
  properties->kernelTimestampValidBits = 32;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeDriverGetExtensionFunctionAddress(ze_driver_handle_t, const char* name, void** out) {
  if (std::string_view(name) != "zexCounterBasedEventCreate2") {
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  }
  *out = reinterpret_cast<void*>(&extension_create);
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeDriverGetExtensionProperties(ze_driver_handle_t, uint32_t* count,
                                           ze_driver_extension_properties_t* out) {
  if (out != nullptr && *count > 0) {
    std::strcpy(out->name,
                current->pool_extension ? ZE_EVENT_POOL_COUNTER_BASED_EXP_NAME : "other");
  }
  *count = 1;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeContextCreate(ze_driver_handle_t, const ze_context_desc_t*,
                            ze_context_handle_t* out) {
  *out = context();
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeContextDestroy(ze_context_handle_t) {
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventPoolCreate(ze_context_handle_t, const ze_event_pool_desc_t* desc, uint32_t,
                              ze_device_handle_t*, ze_event_pool_handle_t* out) {
  *out = reinterpret_cast<ze_event_pool_handle_t>(new pool{desc->pNext != nullptr});
  current->pool_counts.push_back(desc->count);
  ++current->live_pools;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeEventPoolDestroy(ze_event_pool_handle_t handle) {
  delete reinterpret_cast<pool*>(handle);
  --current->live_pools;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeEventCreate(ze_event_pool_handle_t handle, const ze_event_desc_t* desc,
                          ze_event_handle_t* out) {
  if (desc->index >= current->pool_counts.back()) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  *out = new_event(reinterpret_cast<pool*>(handle)->counter_based);
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeEventDestroy(ze_event_handle_t handle) {
  return destroy(handle);
}
ze_result_t zeEventHostSignal(ze_event_handle_t handle) {
  of(handle).signalled = true;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeEventHostReset(ze_event_handle_t handle) {
  if (current->reset_result != ZE_RESULT_SUCCESS) return current->reset_result;
  ++current->resets;
  if (current->reset_keeps_state) return ZE_RESULT_SUCCESS;
  of(handle).signalled = false;
  return of(handle).counter_based ? ZE_RESULT_ERROR_UNSUPPORTED_FEATURE : ZE_RESULT_SUCCESS;
}
ze_result_t zeEventQueryStatus(ze_event_handle_t handle) {
  return of(handle).signalled ? current->query_result : ZE_RESULT_NOT_READY;
}
ze_result_t zeEventHostSynchronize(ze_event_handle_t handle, uint64_t) {
  return zeEventQueryStatus(handle);
}
ze_result_t zeEventQueryKernelTimestamp(ze_event_handle_t handle,
                                        ze_kernel_timestamp_result_t* out) {
  if (!of(handle).signalled) return ZE_RESULT_NOT_READY;
  *out = of(handle).times;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventCounterBasedCreate(ze_context_handle_t, ze_device_handle_t,
                                      const ze_event_counter_based_desc_t* desc,
                                      ze_event_handle_t* out) {
  if (desc->stype != ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC) {
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  }
  return create_counter_based(current->standard_counter_based, desc, out);
}

ze_result_t zeCommandListIsImmediate(ze_command_list_handle_t handle, ze_bool_t* out) {
  if (!current->lists_answer) return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  *out = reinterpret_cast<list*>(handle)->immediate;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeCommandListGetFlags(ze_command_list_handle_t handle, ze_command_list_flags_t* out) {
  *out = reinterpret_cast<list*>(handle)->flags;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeCommandListImmediateGetFlags(ze_command_list_handle_t handle,
                                           ze_command_queue_flags_t* out) {
  *out = reinterpret_cast<list*>(handle)->queue_flags;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandListAppendBarrier(ze_command_list_handle_t, ze_event_handle_t signal,
                                       uint32_t wait_count, ze_event_handle_t* waits) {
  return append({.what = "barrier", .signal = signal}, wait_count, waits);
}
ze_result_t zeCommandListAppendMemoryCopy(ze_command_list_handle_t, void* destination,
                                          const void* source, size_t bytes,
                                          ze_event_handle_t signal, uint32_t wait_count,
                                          ze_event_handle_t* waits) {
  return append({.what = "copy",
                 .signal = signal,
                 .destination = destination,
                 .source = source,
                 .bytes = bytes},
                wait_count, waits);
}
ze_result_t zeCommandListAppendMemoryCopyRegion(ze_command_list_handle_t, void* destination,
                                                const ze_copy_region_t* region, uint32_t, uint32_t,
                                                const void* source, const ze_copy_region_t*,
                                                uint32_t, uint32_t, ze_event_handle_t signal,
                                                uint32_t wait_count, ze_event_handle_t* waits) {
  return append({.what = "region",
                 .signal = signal,
                 .destination = destination,
                 .source = source,
                 .region = *region},
                wait_count, waits);
}
