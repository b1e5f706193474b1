#include "driver/driver.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>

#include "base/checked_cast.hpp"
#include "base/environment.hpp"
#include "base/log.hpp"
#include "driver/affinity_mask.hpp"
#include "driver/chaos.hpp"
#include "driver/context.hpp"
#include "driver/device.hpp"
#include "driver/device_hierarchy.hpp"
#include "driver/extensions.hpp"
#include "driver/fault_injection.hpp"
#include "driver/last_error.hpp"
#include "driver/made_with_driver.hpp"
#include "driver/quirks.hpp"
#include "driver/trial_note.hpp"
#include "driver/two_call.hpp"
#include "driver_entry.hpp"

namespace zevent::driver {
namespace {

// What clients cache compiled kernels by, together with the device's name.
constexpr uint32_t driver_version = ZE_MAKE_VERSION(0, 1);

// Set by zeInit and zeInitDrivers; zeDriverGet answers UNINITIALIZED before.
std::atomic<bool> initialized{false};

// Whether the mask leaves anything of the root device.
bool is_shown(uint32_t index, bool is_flat) {
  const affinity_mask& mask = affinity_mask::of_environment();
  if (!is_flat) return mask.shows(index);
  const auto parts = device::subdevice_count_of_environment();
  if (parts == 0) return mask.shows_flat(index);
  for (uint32_t i = 0; i < parts; ++i) {
    if (mask.shows_flat(index * parts + i)) return true;
  }
  return false;
}

}  // namespace

driver& driver::instance() {
  static auto* only = [] {
    made_with_driver::make_all();
    return new driver;
  }();
  return *only;
}

driver::driver() {
  const auto count =
      checked_cast<uint32_t>(read_environment_number("ZEVENT_DEVICES", 1, 1, most_devices));
  // Memory may run out on the way: what was made until then goes again.
  std::vector<std::unique_ptr<device>> made;
  const bool is_flat = hierarchy_of_environment() != device_hierarchy::composite;
  for (uint32_t i = 0; i < count; ++i) {
    if (is_shown(i, is_flat)) made.push_back(std::make_unique<device>(*this, i));
  }
  // There is a context, and it has a device, even if the mask names none.
  if (made.empty()) made.push_back(std::make_unique<device>(*this, 0));
  for (const auto& each : made) {
    devices_.push_back(each.get());
    const auto parts = each->subdevices();
    if (is_flat && !parts.empty()) {
      listed_devices_.insert(listed_devices_.end(), parts.begin(), parts.end());
    } else {
      listed_devices_.push_back(each.get());
    }
  }
  default_context_ = new context(*this, devices_);
  for (auto& each : made) (void)each.release();
}

ze_driver_uuid_t driver::uuid() const {
  ze_driver_uuid_t uuid{};
  std::memcpy(uuid.id, "zevent-driver\0\0", sizeof uuid.id - 1);
  uuid.id[15] = 1;
  return uuid;
}

namespace {

ze_result_t initialize() {
  if (!faults_are_valid() || !quirks_are_valid()) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  const bool is_first = !initialized.exchange(true, std::memory_order_acq_rel);
  if (is_first && has_chaos()) note_for_trial("chaos");
  if (is_first)
    log_info("driver", "the software driver is in use; ZEVENT_CHAOS={} ZEVENT_FAULTS={}",
             read_environment("ZEVENT_CHAOS").value_or(""),
             read_environment("ZEVENT_FAULTS").value_or(""));
  return ZE_RESULT_SUCCESS;
}

}  // namespace

namespace entry {

ze_result_t zeInit(ze_init_flags_t flags) {
  const bool wants_gpu = flags == 0 || (flags & ZE_INIT_FLAG_GPU_ONLY) != 0;
  // Whoever wants other devices finds none; once there are devices, there is nothing left to do.
  if (!wants_gpu) {
    return initialized.load(std::memory_order_acquire) ? ZE_RESULT_SUCCESS
                                                       : ZE_RESULT_ERROR_UNINITIALIZED;
  }
  return initialize();
}

ze_result_t zeInitDrivers(uint32_t* pCount, ze_driver_handle_t* phDrivers,
                          ze_init_driver_type_desc_t* desc) {
  if (desc->flags == 0) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  if ((desc->flags & ZE_INIT_DRIVER_TYPE_FLAG_GPU) == 0) {
    *pCount = 0;
    return ZE_RESULT_SUCCESS;
  }
  if (const ze_result_t result = initialize(); result != ZE_RESULT_SUCCESS) return result;
  return entry::zeDriverGet(pCount, phDrivers);
}

ze_result_t zeDriverGet(uint32_t* pCount, ze_driver_handle_t* phDrivers) {
  if (!initialized.load(std::memory_order_acquire)) return ZE_RESULT_ERROR_UNINITIALIZED;
  return answer_in_two_calls(1, pCount, phDrivers, [](ze_driver_handle_t& out, uint32_t) {
    out = to_handle<ze_driver_handle_t>(&driver::instance());
  });
}

ze_result_t zeDriverGetApiVersion(ze_driver_handle_t hDriver, ze_api_version_t* version) {
  return with<driver>(hDriver, [&](driver&) {
    *version = ZE_API_VERSION_CURRENT;
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeDriverGetProperties(ze_driver_handle_t hDriver,
                                  ze_driver_properties_t* pDriverProperties) {
  return with<driver>(hDriver, [&](driver& target) {
    pDriverProperties->uuid = target.uuid();
    pDriverProperties->driverVersion = driver_version;
    if (auto* handles = find_in_chain<ze_driver_ddi_handles_ext_properties_t>(
            pDriverProperties->pNext, ZE_STRUCTURE_TYPE_DRIVER_DDI_HANDLES_EXT_PROPERTIES)) {
      handles->flags = ZE_DRIVER_DDI_HANDLE_EXT_FLAG_DDI_HANDLE_EXT_SUPPORTED;
    }
    if (auto* free = find_in_chain<ze_driver_memory_free_ext_properties_t>(
            pDriverProperties->pNext, ZE_STRUCTURE_TYPE_DRIVER_MEMORY_FREE_EXT_PROPERTIES)) {
      free->freePolicies = ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE |
                           ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE;
    }
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeDriverGetIpcProperties(ze_driver_handle_t hDriver,
                                     ze_driver_ipc_properties_t* pIpcProperties) {
  return with<driver>(hDriver, [&](driver&) {
    pIpcProperties->flags = ZE_IPC_PROPERTY_FLAG_MEMORY | ZE_IPC_PROPERTY_FLAG_EVENT_POOL;
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeDriverGetExtensionProperties(ze_driver_handle_t hDriver, uint32_t* pCount,
                                           ze_driver_extension_properties_t* pExtensionProperties) {
  return with<driver>(hDriver, [&](driver&) {
    const auto all = extensions();
    return answer_in_two_calls(
        checked_cast<uint32_t>(all.size()), pCount, pExtensionProperties,
        [&](ze_driver_extension_properties_t& out, uint32_t i) { out = all[i]; });
  });
}

ze_result_t zeDriverGetExtensionFunctionAddress(ze_driver_handle_t hDriver, const char* name,
                                                void** ppFunctionAddress) {
  return with<driver>(hDriver, [&](driver&) {
    void* address = find_exported_function(name);
    if (address == nullptr) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    *ppFunctionAddress = address;
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeDriverGetLastErrorDescription(ze_driver_handle_t hDriver, const char** ppString) {
  return with<driver>(hDriver, [&](driver&) {
    *ppString = last_error();
    return ZE_RESULT_SUCCESS;
  });
}

ze_context_handle_t zeDriverGetDefaultContext(ze_driver_handle_t hDriver) {
  auto* target = try_from_handle<driver>(hDriver);
  return target == nullptr ? nullptr : to_handle<ze_context_handle_t>(&target->default_context());
}

ze_result_t zerGetLastErrorDescription(const char** ppString) {
  *ppString = last_error();
  return ZE_RESULT_SUCCESS;
}

ze_context_handle_t zerGetDefaultContext() {
  if (!initialized.load(std::memory_order_acquire)) return nullptr;
  return to_handle<ze_context_handle_t>(&driver::instance().default_context());
}

// The identifier of a device is its position among those that are shown.
uint32_t zerTranslateDeviceHandleToIdentifier(ze_device_handle_t hDevice) {
  const auto devices = driver::instance().listed_devices();
  const auto found = std::find(devices.begin(), devices.end(), try_from_handle<device>(hDevice));
  return found == devices.end() ? UINT32_MAX : static_cast<uint32_t>(found - devices.begin());
}

ze_device_handle_t zerTranslateIdentifierToDeviceHandle(uint32_t identifier) {
  if (!initialized.load(std::memory_order_acquire)) return nullptr;
  const auto devices = driver::instance().listed_devices();
  if (identifier >= devices.size()) return nullptr;
  return to_handle<ze_device_handle_t>(devices[identifier]);
}

}  // namespace entry
}  // namespace zevent::driver
