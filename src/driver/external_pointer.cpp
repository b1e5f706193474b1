// Plain host memory that the program makes known to the driver. Devices use it in place anyway;
// what there is to know is where it begins.

#include <utility>

#include "driver/allocation.hpp"
#include "driver/driver.hpp"
#include "driver_entry.hpp"

namespace zevent::driver::entry {

ze_result_t zexDriverImportExternalPointer(ze_driver_handle_t hDriver, void* ptr, size_t size) {
  return with<driver>(hDriver, [&](driver& target) {
    auto imported = std::make_shared<allocation>();
    imported->owner = ref<context>(&target.default_context());
    imported->type = ZE_MEMORY_TYPE_HOST_IMPORTED;
    imported->from = allocation::origin::users;
    imported->base = static_cast<char*>(ptr);
    imported->bytes = size;
    allocation_registry::instance().add(std::move(imported));
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zexDriverReleaseImportedPointer(ze_driver_handle_t hDriver, void* ptr) {
  return with<driver>(hDriver, [&](driver&) {
    const auto released = allocation_registry::instance().remove(ptr, allocation::origin::users);
    return released ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
  });
}

ze_result_t zexDriverGetHostPointerBaseAddress(ze_driver_handle_t hDriver, void* ptr,
                                               void** baseAddress) {
  return with<driver>(hDriver, [&](driver&) {
    const auto found = allocation_registry::instance().find(ptr);
    if (!found || found->from != allocation::origin::users) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (baseAddress != nullptr) *baseAddress = found->base;
    return ZE_RESULT_SUCCESS;
  });
}

}  // namespace zevent::driver::entry
