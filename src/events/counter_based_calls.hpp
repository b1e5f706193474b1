#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>
#include <span>

#include "zevent/event.hpp"

namespace zevent {

// The functions of counter-based events are newer than many loaders and drivers. They are looked up
// by name at run time, so that programs link and run everywhere, and in two spellings: the standard
// one, and the driver-experimental zex* one with the same parameters.
struct counter_based_calls {
  using create_call = ze_result_t(ZE_APICALL*)(ze_context_handle_t, ze_device_handle_t,
                                               const ze_event_counter_based_desc_t*,
                                               ze_event_handle_t*);
  using export_call = ze_result_t(ZE_APICALL*)(ze_event_handle_t,
                                               ze_ipc_event_counter_based_handle_t*);
  using open_call = ze_result_t(ZE_APICALL*)(ze_context_handle_t,
                                             ze_ipc_event_counter_based_handle_t,
                                             ze_event_handle_t*);
  using close_call = ze_result_t(ZE_APICALL*)(ze_event_handle_t);

  // The driver that these belong to; null for those of the loader, which work for all drivers.
  ze_driver_handle_t driver = nullptr;
  bool extension = false;  // the zex* spelling
  create_call create = nullptr;
  export_call export_handle = nullptr;
  open_call open = nullptr;
  close_call close = nullptr;
  const char* create_name = "";
  const char* export_name = "";
  const char* open_name = "";

  bool shares_events() const { return export_handle && open && close; }

  // `create` with its descriptor filled in.
  ze_result_t create_event(ze_context_handle_t context, ze_device_handle_t device, uint32_t flags,
                           event_scopes scopes, ze_event_handle_t* event) const;
};

// All that there are, the ones to prefer first. Looked up once.
std::span<const counter_based_calls> all_counter_based_calls();

// Of the driver of `device`, in the same order of preference: f(calls) until one returns true.
template <typename Function>
bool any_counter_based_calls_of(ze_driver_handle_t driver, Function&& f) {
  for (const auto& calls : all_counter_based_calls()) {
    if ((calls.driver == nullptr || calls.driver == driver) && f(calls)) return true;
  }
  return false;
}

// The driver that a device or sub-device belongs to; null when no driver has it.
ze_driver_handle_t driver_of(ze_device_handle_t device);

// A result that says "this driver has no such function", as opposed to "not with these arguments".
bool means_unsupported(ze_result_t result);

}  // namespace zevent
