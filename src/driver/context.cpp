#include "driver/context.hpp"

#include <algorithm>
#include <utility>

#include "driver/driver.hpp"
#include "driver_entry.hpp"

namespace zevent::driver {

context::context(driver& owner, std::vector<device*> devices)
    : driver_(owner), devices_(std::move(devices)) {}

bool context::contains(const device& candidate) const {
  return std::any_of(devices_.begin(), devices_.end(),
                     [&](const device* each) { return candidate.is_part_of(*each); });
}

namespace entry {

ze_result_t zeContextCreate(ze_driver_handle_t hDriver, const ze_context_desc_t* desc,
                            ze_context_handle_t* phContext) {
  return entry::zeContextCreateEx(hDriver, desc, 0, nullptr, phContext);
}

ze_result_t zeContextCreateEx(ze_driver_handle_t hDriver, const ze_context_desc_t*,
                              uint32_t numDevices, ze_device_handle_t* phDevices,
                              ze_context_handle_t* phContext) {
  return with<driver>(hDriver, [&](driver& owner) {
    std::vector<device*> devices;
    for (uint32_t i = 0; i < numDevices; ++i) {
      devices.push_back(try_from_handle<device>(phDevices[i]));
      if (devices.back() == nullptr) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    }
    if (devices.empty()) devices.assign(owner.devices().begin(), owner.devices().end());
    *phContext = to_handle<ze_context_handle_t>(new context(owner, std::move(devices)));
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeContextDestroy(ze_context_handle_t hContext) {
  return with<context>(hContext, [](context& target) {
    // The default context is the driver's own.
    if (&target == &target.owner_driver().default_context())
      return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    target.destroy_handle();
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeContextGetStatus(ze_context_handle_t hContext) {
  return with<context>(hContext, [](context& target) {
    return target.is_lost() ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_SUCCESS;
  });
}

}  // namespace entry
}  // namespace zevent::driver
