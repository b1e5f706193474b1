#include "events/counter_based_calls.hpp"

#include <dlfcn.h>

#include <vector>

#include "events/check.hpp"

namespace zevent {
namespace {

// zex_counter_based_event_desc_t has the layout of ze_event_counter_based_desc_t and this type.
constexpr auto extension_desc_stype = static_cast<ze_structure_type_t>(0x0003001C);

// ZEL_HANDLE_DRIVER of the loader's zel_handle_type_t.
constexpr int loader_handle_driver = 0;

std::vector<ze_driver_handle_t> all_drivers() {
  uint32_t count = 0;
  if (zeDriverGet(&count, nullptr) != ZE_RESULT_SUCCESS) return {};
  std::vector<ze_driver_handle_t> drivers(count);
  if (zeDriverGet(&count, drivers.data()) != ZE_RESULT_SUCCESS) return {};
  drivers.resize(count);
  return drivers;
}

// With several drivers an old loader wraps handles. A driver's own functions do not know the
// wrapped ones, and the loader's functions do not know what such a function made.
bool is_wrapped(ze_driver_handle_t driver) {
  using translate_call = ze_result_t (*)(int, void*, void**);
  const auto translate =
      reinterpret_cast<translate_call>(dlsym(RTLD_DEFAULT, "zelLoaderTranslateHandle"));
  void* own = nullptr;
  return translate != nullptr &&
         translate(loader_handle_driver, driver, &own) == ZE_RESULT_SUCCESS && own != driver;
}

class call_finder {
 public:
  explicit call_finder(ze_driver_handle_t driver) : driver_(driver) {}

  // The loader's function, or the driver's where there is a driver.
  template <typename Function>
  Function find(const char* name) const {
    void* address = nullptr;
    if (driver_ == nullptr) {
      address = dlsym(RTLD_DEFAULT, name);
    } else if (zeDriverGetExtensionFunctionAddress(driver_, name, &address) != ZE_RESULT_SUCCESS) {
      address = nullptr;
    }
    return reinterpret_cast<Function>(address);
  }

  counter_based_calls standard() const {
    return find_all(false, "zeEventCounterBasedCreate", "zeEventCounterBasedGetIpcHandle",
                    "zeEventCounterBasedOpenIpcHandle", "zeEventCounterBasedCloseIpcHandle");
  }

  counter_based_calls extension() const {
    return find_all(true, "zexCounterBasedEventCreate2", "zexCounterBasedEventGetIpcHandle",
                    "zexCounterBasedEventOpenIpcHandle", "zexCounterBasedEventCloseIpcHandle");
  }

 private:
  counter_based_calls find_all(bool is_extension, const char* create, const char* export_handle,
                               const char* open, const char* close) const {
    return {.driver = driver_,
            .extension = is_extension,
            .create = find<counter_based_calls::create_call>(create),
            .export_handle = find<counter_based_calls::export_call>(export_handle),
            .open = find<counter_based_calls::open_call>(open),
            .close = find<counter_based_calls::close_call>(close),
            .create_name = create,
            .export_name = export_handle,
            .open_name = open};
  }

  ze_driver_handle_t driver_;
};

std::vector<counter_based_calls> find_calls() {
  std::vector<counter_based_calls> found;
  const auto keep = [&](const counter_based_calls& calls) {
    if (calls.create != nullptr) found.push_back(calls);
  };
  keep(call_finder(nullptr).standard());
  const auto drivers = all_drivers();
  if (found.empty() && drivers.empty()) {
    throw error(ZE_RESULT_ERROR_UNINITIALIZED, "zeDriverGet",
                "there is no driver yet; call zeInit first");
  }
  for (ze_driver_handle_t driver : drivers) {
    if (is_wrapped(driver)) continue;
    keep(call_finder(driver).standard());
    keep(call_finder(driver).extension());
  }
  return found;
}

bool has_device(const std::vector<ze_device_handle_t>& devices, ze_device_handle_t wanted) {
  for (ze_device_handle_t device : devices) {
    if (device == wanted) return true;
    uint32_t count = 0;
    if (zeDeviceGetSubDevices(device, &count, nullptr) != ZE_RESULT_SUCCESS || count == 0) continue;
    std::vector<ze_device_handle_t> parts(count);
    if (zeDeviceGetSubDevices(device, &count, parts.data()) != ZE_RESULT_SUCCESS) continue;
    parts.resize(count);
    if (has_device(parts, wanted)) return true;
  }
  return false;
}

}  // namespace

ze_result_t counter_based_calls::create_event(ze_context_handle_t context,
                                              ze_device_handle_t device, uint32_t flags,
                                              event_scopes scopes, ze_event_handle_t* event) const {
  ze_event_counter_based_desc_t desc{};
  desc.stype = extension ? extension_desc_stype : ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC;
  desc.flags = flags;
  desc.signal = scopes.signal;
  desc.wait = scopes.wait;
  return create(context, device, &desc, event);
}

std::span<const counter_based_calls> all_counter_based_calls() {
  // Never destroyed: events may be let go by destructors of static objects.
  static const auto& calls = *new std::vector<counter_based_calls>(find_calls());
  return calls;
}

ze_driver_handle_t driver_of(ze_device_handle_t device) {
  for (ze_driver_handle_t driver : all_drivers()) {
    uint32_t count = 0;
    if (zeDeviceGet(driver, &count, nullptr) != ZE_RESULT_SUCCESS) continue;
    std::vector<ze_device_handle_t> devices(count);
    if (zeDeviceGet(driver, &count, devices.data()) != ZE_RESULT_SUCCESS) continue;
    devices.resize(count);
    if (has_device(devices, device)) return driver;
  }
  return nullptr;
}

bool means_unsupported(ze_result_t result) {
  return result == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE ||
         result == ZE_RESULT_ERROR_UNSUPPORTED_VERSION || result == ZE_RESULT_ERROR_UNINITIALIZED;
}

}  // namespace zevent
