#pragma once

// What the C++ examples start with: a device, a context and lists. Examples run once and exit, so
// nothing of this is destroyed.

#include <level_zero/ze_api.h>

#include "zevent/error.hpp"

namespace example {

#define CHECK(call) ::example::check((call), #call)

inline void check(ze_result_t result, const char* call) {
  if (result != ZE_RESULT_SUCCESS) throw zevent::error(result, call);
}

struct device_and_context {
  ze_device_handle_t device = nullptr;
  ze_context_handle_t context = nullptr;
};

inline device_and_context first_device() {
  device_and_context found;
  ze_driver_handle_t driver = nullptr;
  uint32_t one = 1;
  CHECK(zeInit(0));
  CHECK(zeDriverGet(&one, &driver));
  one = 1;
  CHECK(zeDeviceGet(driver, &one, &found.device));
  ze_context_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC;
  CHECK(zeContextCreate(driver, &desc, &found.context));
  return found;
}

enum class order { in_order, unordered };

// An immediate list: commands start as they are appended.
inline ze_command_list_handle_t immediate_list(const device_and_context& at, order wanted) {
  ze_command_queue_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  if (wanted == order::in_order) desc.flags = ZE_COMMAND_QUEUE_FLAG_IN_ORDER;
  desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
  ze_command_list_handle_t list = nullptr;
  CHECK(zeCommandListCreateImmediate(at.context, at.device, &desc, &list));
  return list;
}

}  // namespace example
