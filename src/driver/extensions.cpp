#include "driver/extensions.hpp"

#include "api/zex_api.h"

namespace zevent::driver {
namespace {

constexpr uint32_t version_1_0 = ZE_MAKE_VERSION(1, 0);

// Sorted by name.
constexpr ze_driver_extension_properties_t supported[] = {
    {ZEX_COUNTER_BASED_EVENT_EXT_NAME, version_1_0},
    {ZE_BANDWIDTH_PROPERTIES_EXP_NAME, version_1_0},
    {ZE_COMMAND_LIST_CLONE_EXP_NAME, ZE_COMMAND_LIST_CLONE_EXP_VERSION_CURRENT},
    {ZE_EVENT_POOL_COUNTER_BASED_EXP_NAME, version_1_0},
    {ZE_EVENT_QUERY_TIMESTAMPS_EXP_NAME, version_1_0},
    {ZE_FABRIC_EXP_NAME, version_1_0},
    {ZE_GLOBAL_OFFSET_EXP_NAME, version_1_0},
    {ZE_IMAGE_MEMORY_PROPERTIES_EXP_NAME, version_1_0},
    {ZE_IMAGE_VIEW_EXP_NAME, version_1_0},
    {ZE_IMMEDIATE_COMMAND_LIST_APPEND_EXP_NAME, version_1_0},
    {ZE_MODULE_PROGRAM_EXP_NAME, version_1_0},
    {ZE_MUTABLE_COMMAND_LIST_EXP_NAME, ZE_MUTABLE_COMMAND_LIST_EXP_VERSION_CURRENT},
    {ZE_RELAXED_ALLOCATION_LIMITS_EXP_NAME, version_1_0},
    {ZE_KERNEL_SCHEDULING_HINTS_EXP_NAME, version_1_0},
    {ZE_CACHELINE_SIZE_EXT_NAME, version_1_0},
    {ZE_DEVICE_IP_VERSION_EXT_NAME, version_1_0},
    {ZE_DEVICE_LUID_EXT_NAME, version_1_0},
    {ZE_DEVICE_MEMORY_PROPERTIES_EXT_NAME, version_1_0},
    {ZE_DRIVER_DDI_HANDLES_EXT_NAME, ZE_DRIVER_DDI_HANDLES_EXT_VERSION_CURRENT},
    {ZE_EU_COUNT_EXT_NAME, version_1_0},
    {ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_NAME, version_1_0},
    {ZE_FLOAT_ATOMICS_EXT_NAME, version_1_0},
    {ZE_IMAGE_COPY_EXT_NAME, version_1_0},
    {ZE_IMAGE_FORMAT_SUPPORT_EXT_NAME, version_1_0},
    {ZE_IMAGE_QUERY_ALLOC_PROPERTIES_EXT_NAME, version_1_0},
    {ZE_IMAGE_VIEW_EXT_NAME, version_1_0},
    {ZE_IPC_MEM_HANDLE_TYPE_EXT_NAME, version_1_0},
    {ZE_KERNEL_MAX_GROUP_SIZE_PROPERTIES_EXT_NAME, version_1_0},
    {ZE_LINKAGE_INSPECTION_EXT_NAME, version_1_0},
    {ZE_LINKONCE_ODR_EXT_NAME, version_1_0},
    {ZE_MEMORY_FREE_POLICIES_EXT_NAME, version_1_0},
    {ZE_PCI_PROPERTIES_EXT_NAME, version_1_0},
    {ZE_RELAXED_ALLOCATION_LIMITS_EXT_NAME, version_1_0},
    {ZE_SUBGROUPS_EXT_NAME, version_1_0},
    {ZE_VIRTUAL_MEM_READONLY_PROPERTIES_EXT_NAME, version_1_0},
};

}  // namespace

std::span<const ze_driver_extension_properties_t> extensions() {
  return supported;
}

}  // namespace zevent::driver
