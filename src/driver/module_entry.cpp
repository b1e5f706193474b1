#include <cstring>

#include "base/log.hpp"
#include "driver/module.hpp"
#include "driver/two_call.hpp"
#include "driver_entry.hpp"

namespace zevent::driver {
namespace {

// Few programs ask for the log: what went wrong is said to who asks zevent.
void give_log(std::string text, ze_module_build_log_handle_t* out,
              ze_result_t status = ZE_RESULT_SUCCESS) {
  if (status != ZE_RESULT_SUCCESS)
    log_info("driver", "a module cannot be built or linked ({:#x})\n{}",
             static_cast<uint32_t>(status), text);
  if (out == nullptr) return;
  *out = to_handle<ze_module_build_log_handle_t>(new module_build_log(std::move(text)));
}

// The modules behind an array of handles; empty when one of them is none.
std::vector<module*> to_modules(uint32_t count, const ze_module_handle_t* handles) {
  std::vector<module*> modules;
  for (uint32_t i = 0; i < count; ++i) {
    module* each = try_from_handle<module>(handles[i]);
    if (each == nullptr) return {};
    modules.push_back(each);
  }
  return modules;
}

}  // namespace

namespace entry {

ze_result_t zeModuleCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                           const ze_module_desc_t* desc, ze_module_handle_t* phModule,
                           ze_module_build_log_handle_t* phBuildLog) {
  return with<context>(hContext, [&](context& owner) {
    return with<device>(hDevice, [&](device& target) {
      std::string text;
      module* made = nullptr;
      const ze_result_t status = module::create(owner, target, *desc, text, &made);
      const auto held = ref<module>::adopt(made);  // there may be no memory left for the log
      give_log(std::move(text), phBuildLog, status);
      if (status != ZE_RESULT_SUCCESS) return status;
      made->add_reference();
      *phModule = to_handle<ze_module_handle_t>(made);
      return status;
    });
  });
}

ze_result_t zeModuleDestroy(ze_module_handle_t hModule) {
  return with<module>(hModule, [](module& target) {
    target.destroy_handle();
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeModuleDynamicLink(uint32_t numModules, ze_module_handle_t* phModules,
                                ze_module_build_log_handle_t* phLinkLog) {
  const std::vector<module*> modules = to_modules(numModules, phModules);
  if (modules.size() != numModules) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  std::string text;
  const ze_result_t status = module::link(modules, text);
  give_log(std::move(text), phLinkLog, status);
  return status;
}

ze_result_t zeModuleInspectLinkageExt(ze_linkage_inspection_ext_desc_t* pInspectDesc,
                                      uint32_t numModules, ze_module_handle_t* phModules,
                                      ze_module_build_log_handle_t* phLog) {
  const std::vector<module*> modules = to_modules(numModules, phModules);
  if (modules.size() != numModules) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  give_log(module::inspect_linkage(modules, pInspectDesc->flags), phLog);
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeModuleBuildLogDestroy(ze_module_build_log_handle_t hModuleBuildLog) {
  return with<module_build_log>(hModuleBuildLog, [](module_build_log& target) {
    target.destroy_handle();
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeModuleBuildLogGetString(ze_module_build_log_handle_t hModuleBuildLog, size_t* pSize,
                                      char* pBuildLog) {
  return with<module_build_log>(hModuleBuildLog, [&](module_build_log& target) {
    const size_t needed = target.text().size() + 1;
    if (pBuildLog != nullptr) {
      if (*pSize < needed) return ZE_RESULT_ERROR_INVALID_SIZE;
      std::memcpy(pBuildLog, target.text().c_str(), needed);
    }
    *pSize = needed;
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeModuleGetNativeBinary(ze_module_handle_t hModule, size_t* pSize,
                                    uint8_t* pModuleNativeBinary) {
  return with<module>(hModule, [&](module& target) {
    const std::vector<uint8_t> bytes = target.native_binary();
    if (pModuleNativeBinary != nullptr) {
      if (*pSize < bytes.size()) return ZE_RESULT_ERROR_INVALID_SIZE;
      std::memcpy(pModuleNativeBinary, bytes.data(), bytes.size());
    }
    *pSize = bytes.size();
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeModuleGetGlobalPointer(ze_module_handle_t hModule, const char* pGlobalName,
                                     size_t* pSize, void** pptr) {
  return with<module>(hModule, [&](module& target) {
    const module_variables::place found = target.find_variable(pGlobalName);
    if (found.address == nullptr) return ZE_RESULT_ERROR_INVALID_GLOBAL_NAME;
    if (pSize != nullptr) *pSize = found.size_bytes;
    if (pptr != nullptr) *pptr = found.address;
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeModuleGetFunctionPointer(ze_module_handle_t hModule, const char* pFunctionName,
                                       void** pfnFunction) {
  return with<module>(
      hModule, [&](module& target) { return target.find_function(pFunctionName, pfnFunction); });
}

ze_result_t zeModuleGetKernelNames(ze_module_handle_t hModule, uint32_t* pCount,
                                   const char** pNames) {
  return with<module>(hModule, [&](module& target) {
    const auto& kernels = target.signature().kernels;
    return answer_in_two_calls(
        static_cast<uint32_t>(kernels.size()), pCount, pNames,
        [&](const char*& name, uint32_t i) { name = kernels[i].name.c_str(); });
  });
}

ze_result_t zeModuleGetProperties(ze_module_handle_t hModule,
                                  ze_module_properties_t* pModuleProperties) {
  return with<module>(hModule, [&](module& target) {
    pModuleProperties->flags = target.has_imports() ? ZE_MODULE_PROPERTY_FLAG_IMPORTS : 0;
    return ZE_RESULT_SUCCESS;
  });
}

}  // namespace entry
}  // namespace zevent::driver
