#include <cstring>

#include "driver/kernel.hpp"
#include "driver_entry.hpp"

namespace zevent::driver {
namespace {

template <typename Size>
ze_result_t give_text(const std::string& text, Size* size, char* out) {
  const auto needed = static_cast<Size>(text.size() + 1);
  if (out != nullptr) {
    if (*size < needed) return ZE_RESULT_ERROR_INVALID_SIZE;
    std::memcpy(out, text.c_str(), needed);
  }
  *size = needed;
  return ZE_RESULT_SUCCESS;
}

}  // namespace

namespace entry {

ze_result_t zeKernelCreate(ze_module_handle_t hModule, const ze_kernel_desc_t* desc,
                           ze_kernel_handle_t* phKernel) {
  return with<module>(hModule, [&](module& owner) {
    kernel* made = nullptr;
    const ze_result_t status = kernel::create(owner, *desc, &made);
    if (status == ZE_RESULT_SUCCESS) *phKernel = to_handle<ze_kernel_handle_t>(made);
    return status;
  });
}

ze_result_t zeKernelDestroy(ze_kernel_handle_t hKernel) {
  return with<kernel>(hKernel, [](kernel& target) {
    target.destroy_handle();
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeKernelSetGroupSize(ze_kernel_handle_t hKernel, uint32_t groupSizeX,
                                 uint32_t groupSizeY, uint32_t groupSizeZ) {
  return with<kernel>(hKernel, [&](kernel& target) {
    return target.set_group_size(groupSizeX, groupSizeY, groupSizeZ);
  });
}

ze_result_t zeKernelSuggestGroupSize(ze_kernel_handle_t hKernel, uint32_t globalSizeX,
                                     uint32_t globalSizeY, uint32_t globalSizeZ,
                                     uint32_t* groupSizeX, uint32_t* groupSizeY,
                                     uint32_t* groupSizeZ) {
  return with<kernel>(hKernel, [&](kernel& target) {
    uint32_t suggested[3] = {};
    const ze_result_t status =
        target.suggest_group_size({globalSizeX, globalSizeY, globalSizeZ}, suggested);
    if (status != ZE_RESULT_SUCCESS) return status;
    *groupSizeX = suggested[0];
    *groupSizeY = suggested[1];
    *groupSizeZ = suggested[2];
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeKernelSuggestMaxCooperativeGroupCount(ze_kernel_handle_t hKernel,
                                                    uint32_t* totalGroupCount) {
  return with<kernel>(hKernel, [&](kernel&) {
    *totalGroupCount = most_cooperative_groups();
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeKernelSetArgumentValue(ze_kernel_handle_t hKernel, uint32_t argIndex, size_t argSize,
                                     const void* pArgValue) {
  return with<kernel>(
      hKernel, [&](kernel& target) { return target.set_argument(argIndex, argSize, pArgValue); });
}

ze_result_t zeKernelSetIndirectAccess(ze_kernel_handle_t hKernel,
                                      ze_kernel_indirect_access_flags_t flags) {
  return with<kernel>(hKernel, [&](kernel& target) {
    target.set_indirect_access(flags);
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeKernelGetIndirectAccess(ze_kernel_handle_t hKernel,
                                      ze_kernel_indirect_access_flags_t* pFlags) {
  return with<kernel>(hKernel, [&](kernel& target) {
    *pFlags = target.indirect_access();
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeKernelGetSourceAttributes(ze_kernel_handle_t hKernel, uint32_t* pSize,
                                        char** pString) {
  return with<kernel>(hKernel, [&](kernel& target) {
    return give_text(target.signature().attributes, pSize, pString != nullptr ? *pString : nullptr);
  });
}

// All caches are the machine's own.
ze_result_t zeKernelSetCacheConfig(ze_kernel_handle_t hKernel, ze_cache_config_flags_t) {
  return with<kernel>(hKernel, [](kernel&) { return ZE_RESULT_SUCCESS; });
}

ze_result_t zeKernelGetProperties(ze_kernel_handle_t hKernel,
                                  ze_kernel_properties_t* pKernelProperties) {
  return with<kernel>(hKernel, [&](kernel& target) {
    target.describe(*pKernelProperties);
    auto* preferred = find_in_chain<ze_kernel_preferred_group_size_properties_t>(
        pKernelProperties->pNext, ZE_STRUCTURE_TYPE_KERNEL_PREFERRED_GROUP_SIZE_PROPERTIES);
    if (preferred != nullptr)
      preferred->preferredMultiple = 8;  // lanes of a vector of 32-bit numbers
    auto* largest = find_in_chain<ze_kernel_max_group_size_properties_ext_t>(
        pKernelProperties->pNext, ZE_STRUCTURE_TYPE_KERNEL_MAX_GROUP_SIZE_EXT_PROPERTIES);
    if (largest != nullptr) largest->maxGroupSize = kernel::most_work_items();
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeKernelGetName(ze_kernel_handle_t hKernel, size_t* pSize, char* pName) {
  return with<kernel>(
      hKernel, [&](kernel& target) { return give_text(target.signature().name, pSize, pName); });
}

ze_result_t zeKernelSetGlobalOffsetExp(ze_kernel_handle_t hKernel, uint32_t offsetX,
                                       uint32_t offsetY, uint32_t offsetZ) {
  return with<kernel>(hKernel, [&](kernel& target) {
    target.set_global_offset(offsetX, offsetY, offsetZ);
    return ZE_RESULT_SUCCESS;
  });
}

// Groups are scheduled by the operating system; a hint is a hint.
ze_result_t zeKernelSchedulingHintExp(ze_kernel_handle_t hKernel, ze_scheduling_hint_exp_desc_t*) {
  return with<kernel>(hKernel, [](kernel&) { return ZE_RESULT_SUCCESS; });
}

}  // namespace entry
}  // namespace zevent::driver
