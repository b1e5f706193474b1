#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace zevent::recorder_test {

// The little that every program under test begins with.
struct event_program {
  ze_driver_handle_t driver = nullptr;
  ze_device_handle_t device = nullptr;
  ze_context_handle_t context = nullptr;
  ze_event_pool_handle_t pool = nullptr;

  static void check(ze_result_t result) {
    if (result != ZE_RESULT_SUCCESS) std::_Exit(99);
  }

  event_program() {
    check(zeInit(0));
    uint32_t count = 1;
    check(zeDriverGet(&count, &driver));
    count = 1;
    check(zeDeviceGet(driver, &count, &device));
    const ze_context_desc_t context_desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    check(zeContextCreate(driver, &context_desc, &context));
    const ze_event_pool_desc_t pool_desc{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                         ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 64};
    check(zeEventPoolCreate(context, &pool_desc, 0, nullptr, &pool));
  }

  ze_event_handle_t create_event(uint32_t index) const {
    const ze_event_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, index,
                               ZE_EVENT_SCOPE_FLAG_HOST, ZE_EVENT_SCOPE_FLAG_HOST};
    ze_event_handle_t event = nullptr;
    check(zeEventCreate(pool, &desc, &event));
    return event;
  }
};

}  // namespace zevent::recorder_test
