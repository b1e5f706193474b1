// What a device says about itself. Clients often leave the stype of a property structure unset: the
// function alone says what is asked.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "driver/copy_text.hpp"
#include "driver/device.hpp"
#include "driver/device_hierarchy.hpp"
#include "driver/driver.hpp"
#include "driver/kernel_limits.hpp"
#include "driver/mutable_commands.hpp"
#include "driver/quirks.hpp"
#include "driver/two_call.hpp"
#include "driver_entry.hpp"

namespace zevent::driver {
namespace {

constexpr uint32_t eus_per_subslice = 8;
constexpr uint32_t threads_per_eu = 8;
constexpr uint32_t simd_width = 8;
constexpr uint32_t cache_line_bytes = 64;
constexpr uint32_t one_side_access =
    ZE_MEMORY_ACCESS_CAP_FLAG_RW | ZE_MEMORY_ACCESS_CAP_FLAG_ATOMIC;
constexpr uint32_t all_access = one_side_access | ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT |
                                ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT_ATOMIC;
// See spirv_float_atomics.hpp.
constexpr auto moving_float_atomics =
    ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_LOAD_STORE | ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_LOAD_STORE;
constexpr auto computing_float_atomics =
    ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_ADD | ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_MIN_MAX |
    ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_ADD | ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_MIN_MAX;

uint32_t core_count() {
  return static_cast<uint32_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

void fill_extensions(const device& target, ze_device_properties_t& properties) {
  void* chain = properties.pNext;
  if (auto* version = find_in_chain<ze_device_ip_version_ext_t>(
          chain, ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT)) {
    version->ipVersion = ZE_MAKE_VERSION(0, 1);
  }
  if (auto* count = find_in_chain<ze_eu_count_ext_t>(chain, ZE_STRUCTURE_TYPE_EU_COUNT_EXT)) {
    count->numTotalEUs = core_count() * eus_per_subslice;
  }
  if (auto* luid = find_in_chain<ze_device_luid_ext_properties_t>(
          chain, ZE_STRUCTURE_TYPE_DEVICE_LUID_EXT_PROPERTIES)) {
    std::memset(&luid->luid, 0, sizeof luid->luid);
    std::memcpy(luid->luid.id, "zevent", 6);
    luid->luid.id[7] = static_cast<uint8_t>(target.index() + 1);
    luid->nodeMask = 1;
  }
  if (auto* events = find_in_chain<ze_device_event_properties_t>(
          chain, ZE_STRUCTURE_TYPE_DEVICE_EVENT_PROPERTIES)) {
    events->flags = ZE_DEVICE_EVENT_PROPERTIES_FLAG_COUNTER_BASED_EXTERNAL_AGGREGATE_STORAGE |
                    ZE_DEVICE_EVENT_PROPERTIES_FLAG_COUNTER_BASED_IPC |
                    ZE_DEVICE_EVENT_PROPERTIES_FLAG_COUNTER_BASED_EXTERNAL_SYNC_ALLOCATION;
  }
  if (auto* changes = find_in_chain<ze_mutable_command_list_exp_properties_t>(
          chain, ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_PROPERTIES)) {
    changes->mutableCommandListFlags = 0;
    changes->mutableCommandFlags = mutable_commands::supported;
  }
  // What is written to read-only memory ends the process, as a fault of a device would.
  if (auto* read_only = find_in_chain<ze_device_readonly_memory_ext_properties_t>(
          chain, ZE_STRUCTURE_TYPE_DEVICE_READONLY_MEMORY_EXT_PROPERTIES)) {
    read_only->readonlyCapability = ZE_DEVICE_READONLY_MEMORY_CAPABILITY_ENFORCED;
  }
  if (auto* times = find_in_chain<ze_event_query_kernel_timestamps_ext_properties_t>(
          chain, ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_PROPERTIES)) {
    times->flags = ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_FLAG_KERNEL |
                   ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_FLAG_SYNCHRONIZED;
  }
}

}  // namespace

namespace entry {

ze_result_t zeDeviceGet(ze_driver_handle_t hDriver, uint32_t* pCount,
                        ze_device_handle_t* phDevices) {
  return with<driver>(hDriver, [&](driver& owner) {
    const auto devices = owner.listed_devices();
    return answer_in_two_calls(static_cast<uint32_t>(devices.size()), pCount, phDevices,
                               [&](ze_device_handle_t& out, uint32_t i) {
                                 out = to_handle<ze_device_handle_t>(devices[i]);
                               });
  });
}

// A root device has no root above it, and in a flat hierarchy all devices are roots.
ze_result_t zeDeviceGetRootDevice(ze_device_handle_t hDevice, ze_device_handle_t* phRootDevice) {
  return with<device>(hDevice, [&](device& target) {
    device* root = hierarchy_of_environment() == device_hierarchy::flat ? nullptr : target.root();
    *phRootDevice = to_handle<ze_device_handle_t>(root);
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeDeviceGetSubDevices(ze_device_handle_t hDevice, uint32_t* pCount,
                                  ze_device_handle_t* phSubdevices) {
  return with<device>(hDevice, [&](device& target) {
    const auto parts = target.subdevices();
    return answer_in_two_calls(static_cast<uint32_t>(parts.size()), pCount, phSubdevices,
                               [&](ze_device_handle_t& out, uint32_t i) {
                                 out = to_handle<ze_device_handle_t>(parts[i]);
                               });
  });
}

ze_result_t zeDeviceGetProperties(ze_device_handle_t hDevice,
                                  ze_device_properties_t* pDeviceProperties) {
  return with<device>(hDevice, [&](device& target) {
    ze_device_properties_t& out = *pDeviceProperties;
    const device_clock& clock = target.clock();
    out.type = ZE_DEVICE_TYPE_GPU;
    out.vendorId = 0x8086;  // clients refuse devices of vendors they do not know
    out.deviceId = 0x7a65;
    out.flags = ZE_DEVICE_PROPERTY_FLAG_INTEGRATED;
    if (target.root() != nullptr && hierarchy_of_environment() != device_hierarchy::flat) {
      out.flags |= ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE;
    }
    out.subdeviceId = target.subdevice_index();
    out.coreClockRate = 1000;
    out.maxMemAllocSize = device::largest_allocation_bytes();
    out.maxHardwareContexts = 1024 * 64;
    out.maxCommandQueuePriority = 0;
    out.numThreadsPerEU = threads_per_eu;
    out.physicalEUSimdWidth = simd_width;
    out.numEUsPerSubslice = eus_per_subslice;
    out.numSubslicesPerSlice = core_count();
    out.numSlices = 1;
    // API 1.2 asks for ticks a second, API 1.0 for nanoseconds a tick.
    out.timerResolution = stype_of(&out) == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2
                              ? clock.ticks_per_second()
                              : 1'000'000'000 / clock.ticks_per_second();
    out.timestampValidBits = clock.valid_bits();
    out.kernelTimestampValidBits = clock.kernel_valid_bits();
    out.uuid = target.uuid();
    copy_text(target.name(), out.name);
    fill_extensions(target, out);
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeDeviceGetComputeProperties(ze_device_handle_t hDevice,
                                         ze_device_compute_properties_t* pComputeProperties) {
  return with<device>(hDevice, [&](device&) {
    ze_device_compute_properties_t& out = *pComputeProperties;
    out.maxTotalGroupSize = largest_group_size;
    out.maxGroupSizeX = largest_group_size;
    out.maxGroupSizeY = largest_group_size;
    out.maxGroupSizeZ = largest_group_size;
    out.maxGroupCountX = INT32_MAX;
    out.maxGroupCountY = INT32_MAX;
    out.maxGroupCountZ = INT32_MAX;
    out.maxSharedLocalMemory = largest_local_memory_bytes;
    out.numSubGroupSizes = std::size(sub_group_sizes);
    std::fill(std::begin(out.subGroupSizes), std::end(out.subGroupSizes), 0);
    std::copy(std::begin(sub_group_sizes), std::end(sub_group_sizes), out.subGroupSizes);
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeDeviceGetModuleProperties(ze_device_handle_t hDevice,
                                        ze_device_module_properties_t* pModuleProperties) {
  return with<device>(hDevice, [&](device&) {
    ze_device_module_properties_t& out = *pModuleProperties;
    constexpr auto floats = ZE_DEVICE_FP_FLAG_DENORM | ZE_DEVICE_FP_FLAG_INF_NAN |
                            ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST | ZE_DEVICE_FP_FLAG_FMA |
                            ZE_DEVICE_FP_FLAG_ROUNDED_DIVIDE_SQRT;
    out.spirvVersionSupported = ZE_MAKE_VERSION(1, 4);
    out.flags = ZE_DEVICE_MODULE_FLAG_FP64 | ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS;
    out.fp16flags = 0;
    out.fp32flags = floats;
    out.fp64flags = floats;
    out.maxArgumentsSize = 2048;
    out.printfBufferSize = printf_buffer_bytes;
    std::memset(&out.nativeKernelSupported, 0, sizeof out.nativeKernelSupported);
    std::memcpy(out.nativeKernelSupported.id, "zevent-native-1", 16);
    auto* atomics = find_in_chain<ze_float_atomic_ext_properties_t>(
        out.pNext, ZE_STRUCTURE_TYPE_FLOAT_ATOMIC_EXT_PROPERTIES);
    if (atomics != nullptr) {
      atomics->fp16Flags = moving_float_atomics;
      atomics->fp32Flags = moving_float_atomics | computing_float_atomics;
      atomics->fp64Flags = moving_float_atomics | computing_float_atomics;
    }
    auto* hints = find_in_chain<ze_scheduling_hint_exp_properties_t>(
        out.pNext, ZE_STRUCTURE_TYPE_SCHEDULING_HINT_EXP_PROPERTIES);
    if (hints != nullptr) {
      hints->schedulingHintFlags = ZE_SCHEDULING_HINT_EXP_FLAG_OLDEST_FIRST |
                                   ZE_SCHEDULING_HINT_EXP_FLAG_ROUND_ROBIN |
                                   ZE_SCHEDULING_HINT_EXP_FLAG_STALL_BASED_ROUND_ROBIN;
    }
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeDeviceGetCommandQueueGroupProperties(
    ze_device_handle_t hDevice, uint32_t* pCount,
    ze_command_queue_group_properties_t* pCommandQueueGroupProperties) {
  return with<device>(hDevice, [&](device&) {
    return answer_in_two_calls(device::group_count(), pCount, pCommandQueueGroupProperties,
                               [](ze_command_queue_group_properties_t& out, uint32_t i) {
                                 const queue_group& group = *device::group(i);
                                 out.flags = group.flags;
                                 out.maxMemoryFillPatternSize =
                                     device::longest_fill_pattern_bytes(i);
                                 out.numQueues = group.queue_count;
                               });
  });
}

ze_result_t zeDeviceGetMemoryProperties(ze_device_handle_t hDevice, uint32_t* pCount,
                                        ze_device_memory_properties_t* pMemProperties) {
  return with<device>(hDevice, [&](device&) {
    return answer_in_two_calls(
        1, pCount, pMemProperties, [](ze_device_memory_properties_t& out, uint32_t) {
          out.flags = 0;
          out.maxClockRate = 0;
          out.maxBusWidth = 64;
          out.totalSize = device::memory_bytes();
          copy_text("host memory", out.name);
          if (auto* more = find_in_chain<ze_device_memory_ext_properties_t>(
                  out.pNext, ZE_STRUCTURE_TYPE_DEVICE_MEMORY_EXT_PROPERTIES)) {
            more->type = ZE_DEVICE_MEMORY_EXT_TYPE_DDR;
            more->physicalSize = device::memory_bytes();
            more->readBandwidth = 0;
            more->writeBandwidth = 0;
            more->bandwidthUnit = ZE_BANDWIDTH_UNIT_UNKNOWN;
          }
        });
  });
}

ze_result_t zeDeviceGetMemoryAccessProperties(
    ze_device_handle_t hDevice, ze_device_memory_access_properties_t* pMemAccessProperties) {
  return with<device>(hDevice, [&](device&) {
    const bool limited = has_quirk(quirk::no_concurrent_access);
    const uint32_t access = limited ? one_side_access : all_access;
    pMemAccessProperties->hostAllocCapabilities =
        limited ? uint32_t{ZE_MEMORY_ACCESS_CAP_FLAG_RW} : access;
    pMemAccessProperties->deviceAllocCapabilities = access;
    pMemAccessProperties->sharedSingleDeviceAllocCapabilities = access;
    pMemAccessProperties->sharedCrossDeviceAllocCapabilities = limited ? 0 : access;
    pMemAccessProperties->sharedSystemAllocCapabilities =
        has_quirk(quirk::no_shared_system_memory) ? 0 : access;
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeDeviceGetCacheProperties(ze_device_handle_t hDevice, uint32_t* pCount,
                                       ze_device_cache_properties_t* pCacheProperties) {
  return with<device>(hDevice, [&](device&) {
    return answer_in_two_calls(
        1, pCount, pCacheProperties, [](ze_device_cache_properties_t& out, uint32_t) {
          out.flags = 0;
          out.cacheSize = static_cast<size_t>(std::max(0L, sysconf(_SC_LEVEL2_CACHE_SIZE)));
          if (auto* line = find_in_chain<ze_device_cache_line_size_ext_t>(
                  out.pNext, ZE_STRUCTURE_TYPE_DEVICE_CACHELINE_SIZE_EXT)) {
            line->cacheLineSize = cache_line_bytes;
          }
        });
  });
}

ze_result_t zeDeviceGetExternalMemoryProperties(
    ze_device_handle_t hDevice, ze_device_external_memory_properties_t* pExternalMemoryProperties) {
  return with<device>(hDevice, [&](device&) {
    pExternalMemoryProperties->memoryAllocationImportTypes = 0;
    pExternalMemoryProperties->memoryAllocationExportTypes = 0;
    pExternalMemoryProperties->imageImportTypes = 0;
    pExternalMemoryProperties->imageExportTypes = 0;
    return ZE_RESULT_SUCCESS;
  });
}

// All devices are this machine's processor and memory.
ze_result_t zeDeviceGetP2PProperties(ze_device_handle_t hDevice, ze_device_handle_t hPeerDevice,
                                     ze_device_p2p_properties_t* pP2PProperties) {
  return with<device>(hDevice, [&](device&) {
    return with<device>(hPeerDevice, [&](device&) {
      pP2PProperties->flags =
          ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS | ZE_DEVICE_P2P_PROPERTY_FLAG_ATOMICS;
      if (auto* bandwidth = find_in_chain<ze_device_p2p_bandwidth_exp_properties_t>(
              pP2PProperties->pNext, ZE_STRUCTURE_TYPE_DEVICE_P2P_BANDWIDTH_EXP_PROPERTIES)) {
        bandwidth->logicalBandwidth = 0;
        bandwidth->physicalBandwidth = 0;
        bandwidth->bandwidthUnit = ZE_BANDWIDTH_UNIT_UNKNOWN;
        bandwidth->logicalLatency = 0;
        bandwidth->physicalLatency = 0;
        bandwidth->latencyUnit = ZE_LATENCY_UNIT_UNKNOWN;
      }
      return ZE_RESULT_SUCCESS;
    });
  });
}

ze_result_t zeDeviceCanAccessPeer(ze_device_handle_t hDevice, ze_device_handle_t hPeerDevice,
                                  ze_bool_t* value) {
  return with<device>(hDevice, [&](device&) {
    return with<device>(hPeerDevice, [&](device&) {
      *value = 1;
      return ZE_RESULT_SUCCESS;
    });
  });
}

ze_result_t zeDeviceGetStatus(ze_device_handle_t hDevice) {
  return with<device>(hDevice, [](device&) { return ZE_RESULT_SUCCESS; });
}

ze_result_t zeDevicePciGetPropertiesExt(ze_device_handle_t hDevice,
                                        ze_pci_ext_properties_t* pPciProperties) {
  return with<device>(hDevice, [&](device& target) {
    pPciProperties->address = target.pci_address();
    pPciProperties->maxSpeed = {-1, -1, -1};  // not on a bus, and so not known
    return ZE_RESULT_SUCCESS;
  });
}

}  // namespace entry
}  // namespace zevent::driver
