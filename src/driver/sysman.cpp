// System management, as far as there is something true to say: which devices there are, where, and
// how much memory they have. The handles are those of the core API.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>

#include "driver/allocation.hpp"
#include "driver/copy_text.hpp"
#include "driver/device.hpp"
#include "driver/driver.hpp"
#include "driver/two_call.hpp"
#include "driver_entry.hpp"
#include "zevent_version.hpp"

namespace zevent::driver {
namespace {

// The memory of a device, as a module that can be asked.
class sysman_memory : public object_of<sysman_memory, object_kind::sysman_memory> {
 public:
  // One for each device, made when it is asked for; never destroyed, like the devices.
  static sysman_memory& of(uint32_t device_index) {
    // Release/acquire: who sees the pointer sees the object.
    static constinit std::array<std::atomic<sysman_memory*>, driver::most_devices> all{};
    std::atomic<sysman_memory*>& place = all.at(device_index);
    sysman_memory* known = place.load(std::memory_order_acquire);
    if (known != nullptr) return *known;
    auto made = std::make_unique<sysman_memory>();
    if (place.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) {
      return *made.release();
    }
    return *known;
  }
};

}  // namespace

namespace entry {

ze_result_t zesInit(zes_init_flags_t) {
  return ZE_RESULT_SUCCESS;
}

ze_result_t zesDriverGet(uint32_t* pCount, zes_driver_handle_t* phDrivers) {
  return answer_in_two_calls(1, pCount, phDrivers, [](zes_driver_handle_t& out, uint32_t) {
    out = to_handle<zes_driver_handle_t>(&driver::instance());
  });
}

ze_result_t zesDriverGetExtensionProperties(zes_driver_handle_t hDriver, uint32_t* pCount,
                                            zes_driver_extension_properties_t*) {
  return with<driver>(hDriver, [&](driver&) {
    *pCount = 0;
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zesDriverGetExtensionFunctionAddress(zes_driver_handle_t hDriver, const char* name,
                                                 void** ppFunctionAddress) {
  return entry::zeDriverGetExtensionFunctionAddress(reinterpret_cast<ze_driver_handle_t>(hDriver),
                                                    name, ppFunctionAddress);
}

ze_result_t zesDeviceGet(zes_driver_handle_t hDriver, uint32_t* pCount,
                         zes_device_handle_t* phDevices) {
  return with<driver>(hDriver, [&](driver& owner) {
    const auto devices = owner.devices();
    return answer_in_two_calls(static_cast<uint32_t>(devices.size()), pCount, phDevices,
                               [&](zes_device_handle_t& out, uint32_t i) {
                                 out = to_handle<zes_device_handle_t>(devices[i]);
                               });
  });
}

ze_result_t zesDriverGetDeviceByUuidExp(zes_driver_handle_t hDriver, zes_uuid_t uuid,
                                        zes_device_handle_t* phDevice, ze_bool_t* onSubdevice,
                                        uint32_t* subdeviceId) {
  return with<driver>(hDriver, [&](driver& owner) {
    for (device* each : owner.devices()) {
      const auto is_meant = [&](const device& candidate) {
        return std::memcmp(candidate.uuid().id, uuid.id, sizeof uuid.id) == 0;
      };
      const auto parts = each->subdevices();
      const auto part = std::find_if(parts.begin(), parts.end(),
                                     [&](const device* candidate) { return is_meant(*candidate); });
      if (part == parts.end() && !is_meant(*each)) continue;
      *phDevice = to_handle<zes_device_handle_t>(each);
      *onSubdevice = part != parts.end() ? 1 : 0;
      *subdeviceId = part != parts.end() ? (*part)->subdevice_index() : 0;
      return ZE_RESULT_SUCCESS;
    }
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  });
}

ze_result_t zesDeviceGetProperties(zes_device_handle_t hDevice,
                                   zes_device_properties_t* pProperties) {
  return with<device>(hDevice, [&](device& target) {
    pProperties->core.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    pProperties->core.pNext = nullptr;
    const ze_result_t result = entry::zeDeviceGetProperties(
        reinterpret_cast<ze_device_handle_t>(hDevice), &pProperties->core);
    pProperties->numSubdevices = static_cast<uint32_t>(target.subdevices().size());
    copy_text("unknown", pProperties->serialNumber);
    copy_text("unknown", pProperties->boardNumber);
    copy_text("zevent", pProperties->brandName);
    copy_text(target.name(), pProperties->modelName);
    copy_text("zevent", pProperties->vendorName);
    copy_text(ZEVENT_VERSION, pProperties->driverVersion);
    for (auto* link = static_cast<zes_base_properties_t*>(pProperties->pNext); link != nullptr;
         link = static_cast<zes_base_properties_t*>(link->pNext)) {
      if (stype_of(link) != ZES_STRUCTURE_TYPE_DEVICE_EXT_PROPERTIES) continue;
      auto& more = *reinterpret_cast<zes_device_ext_properties_t*>(link);
      std::memcpy(more.uuid.id, target.uuid().id, sizeof more.uuid.id);
      more.type = ZES_DEVICE_TYPE_GPU;
      more.flags = pProperties->core.flags;
    }
    return result;
  });
}

ze_result_t zesDeviceGetState(zes_device_handle_t hDevice, zes_device_state_t* pState) {
  return with<device>(hDevice, [&](device&) {
    pState->reset = 0;
    pState->repaired = ZES_REPAIR_STATUS_UNSUPPORTED;
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zesDevicePciGetProperties(zes_device_handle_t hDevice,
                                      zes_pci_properties_t* pProperties) {
  return with<device>(hDevice, [&](device& target) {
    const ze_pci_address_ext_t address = target.pci_address();
    pProperties->address = {address.domain, address.bus, address.device, address.function};
    pProperties->maxSpeed = {-1, -1, -1};
    pProperties->haveBandwidthCounters = 0;
    pProperties->havePacketCounters = 0;
    pProperties->haveReplayCounters = 0;
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zesDevicePciGetState(zes_device_handle_t hDevice, zes_pci_state_t* pState) {
  return with<device>(hDevice, [&](device&) {
    pState->status = ZES_PCI_LINK_STATUS_UNKNOWN;
    pState->qualityIssues = 0;
    pState->stabilityIssues = 0;
    pState->speed = {-1, -1, -1};
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zesDeviceEnumMemoryModules(zes_device_handle_t hDevice, uint32_t* pCount,
                                       zes_mem_handle_t* phMemory) {
  return with<device>(hDevice, [&](device& target) {
    return answer_in_two_calls(1, pCount, phMemory, [&](zes_mem_handle_t& out, uint32_t) {
      out = to_handle<zes_mem_handle_t>(&sysman_memory::of(target.index()));
    });
  });
}

ze_result_t zesMemoryGetProperties(zes_mem_handle_t hMemory, zes_mem_properties_t* pProperties) {
  return with<sysman_memory>(hMemory, [&](sysman_memory&) {
    pProperties->type = ZES_MEM_TYPE_DDR;
    pProperties->onSubdevice = 0;
    pProperties->subdeviceId = 0;
    pProperties->location = ZES_MEM_LOC_SYSTEM;
    pProperties->physicalSize = device::memory_bytes();
    pProperties->busWidth = -1;
    pProperties->numChannels = -1;
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zesMemoryGetState(zes_mem_handle_t hMemory, zes_mem_state_t* pState) {
  return with<sysman_memory>(hMemory, [&](sysman_memory&) {
    const uint64_t used = allocation_registry::instance().allocated_bytes();
    pState->health = ZES_MEM_HEALTH_UNKNOWN;
    pState->size = device::memory_bytes();
    pState->free = pState->size - std::min(used, pState->size);
    return ZE_RESULT_SUCCESS;
  });
}

}  // namespace entry
}  // namespace zevent::driver
