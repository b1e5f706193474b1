#include "recorder/driver_description.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>

#include "api/model.hpp"
#include "recorder/next_driver.hpp"
#include "recorder/process_recording.hpp"
#include "recorder/undisturbed.hpp"

namespace zevent::recorder {
namespace {

constexpr uint32_t max_drivers = 8;
constexpr uint32_t max_devices = 32;  // of one driver

// relaxed: it only says that nobody else needs to ask.
std::atomic<bool> is_described{false};

bool is_wanted() {
  return !is_described.load(std::memory_order_relaxed) && next_driver_is_loaded() &&
         process_recording::current() != nullptr;
}

template <typename Function>
Function* next_call(const char* name) {
  const auto& model = api::builtin_model();
  const auto* function = model.find_function(name);
  if (function == nullptr) return nullptr;
  return reinterpret_cast<Function*>(
      next_addresses[model.index_of(*function)].load(std::memory_order_relaxed));
}

#define NEXT_CALL(name) next_call<decltype(::name)>(#name)

void note_versions(ze_driver_handle_t driver) {
  ze_driver_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES;
  if (NEXT_CALL(zeDriverGetProperties)(driver, &properties) == ZE_RESULT_SUCCESS)
    note_process_fact("driver version", std::to_string(properties.driverVersion));
  ze_api_version_t version{};
  if (NEXT_CALL(zeDriverGetApiVersion)(driver, &version) == ZE_RESULT_SUCCESS)
    note_process_fact("driver api version", std::to_string(ZE_MAJOR_VERSION(version)) + "." +
                                                std::to_string(ZE_MINOR_VERSION(version)));
}

void note_device(uint32_t number, ze_device_handle_t device) {
  ze_device_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
  if (NEXT_CALL(zeDeviceGetProperties)(device, &properties) != ZE_RESULT_SUCCESS) return;
  char ids[32];
  std::snprintf(ids, sizeof(ids), " (%04x:%04x)", properties.vendorId, properties.deviceId);
  const std::string name(properties.name, strnlen(properties.name, sizeof(properties.name)));
  note_process_fact("device " + std::to_string(number), name + ids);
}

void note_drivers(uint32_t count, const ze_driver_handle_t* drivers) {
  if (is_described.exchange(true, std::memory_order_relaxed)) return;
  note_versions(drivers[0]);
  uint32_t number = 0;
  for (uint32_t i = 0; i < count; ++i) {
    std::array<ze_device_handle_t, max_devices> devices{};
    uint32_t found = max_devices;
    if (NEXT_CALL(zeDeviceGet)(drivers[i], &found, devices.data()) != ZE_RESULT_SUCCESS) continue;
    for (uint32_t k = 0; k < std::min(found, max_devices); ++k)
      if (devices[k] != nullptr) note_device(number++, devices[k]);
  }
}

}  // namespace

void describe_next_driver() noexcept try {
  if (!is_wanted()) return;
  const undisturbed all_the_while;  // a thread that is cancelled leaves by an exception
  std::array<ze_driver_handle_t, max_drivers> drivers{};
  uint32_t count = max_drivers;
  if (NEXT_CALL(zeDriverGet)(&count, drivers.data()) == ZE_RESULT_SUCCESS && count != 0 &&
      drivers[0] != nullptr)
    note_drivers(std::min(count, max_drivers), drivers.data());
} catch (...) {
  // A recording without the description, then.
}

void describe_drivers(const uint32_t* count, const ze_driver_handle_t* drivers) noexcept try {
  if (count == nullptr || drivers == nullptr || *count == 0 || drivers[0] == nullptr) return;
  if (!is_wanted()) return;
  const undisturbed all_the_while;
  note_drivers(std::min(*count, max_drivers), drivers);
} catch (...) {
}

#undef NEXT_CALL

}  // namespace zevent::recorder
