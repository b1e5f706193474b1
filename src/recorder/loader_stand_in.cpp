// The loader's own functions, for programs that find the recorder under the loader's name. They
// are not part of the API and are not recorded: the next driver answers where it stands in for a
// loader too, else the answers are those of a loader without layers.

#include <level_zero/loader/ze_loader.h>

#include <cstring>

#include "recorder/next_driver.hpp"

namespace zevent::recorder {
namespace {

template <typename Signature>
Signature* next_loader_function(const char* name) {
  load_next_driver("direct");
  return reinterpret_cast<Signature*>(next_symbol(name));
}

zel_component_version_t own_version() {
  zel_component_version_t version{};
  std::strncpy(version.component_name, "loader", sizeof(version.component_name) - 1);
  version.spec_version = ZE_API_VERSION_CURRENT;
  version.component_lib_version = {1, ZE_MINOR_VERSION(ZE_API_VERSION_CURRENT), 0};
  return version;
}

void ignore_teardown(uint32_t) {}

}  // namespace
}  // namespace zevent::recorder

using namespace zevent::recorder;

ze_result_t zelLoaderGetVersions(size_t* num_elems, zel_component_version_t* versions) {
  if (auto* next = next_loader_function<decltype(zelLoaderGetVersions)>("zelLoaderGetVersions"))
    return next(num_elems, versions);
  if (num_elems == nullptr) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  if (versions != nullptr && *num_elems > 0) versions[0] = own_version();
  *num_elems = 1;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zelGetLoaderVersion(zel_component_version_t* version) {
  if (auto* next = next_loader_function<decltype(zelGetLoaderVersion)>("zelGetLoaderVersion"))
    return next(version);
  if (version == nullptr) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  *version = own_version();
  return ZE_RESULT_SUCCESS;
}

ze_result_t zelLoaderTranslateHandle(zel_handle_type_t handleType, void* handleIn,
                                     void** handleOut) {
  if (auto* next =
          next_loader_function<decltype(zelLoaderTranslateHandle)>("zelLoaderTranslateHandle"))
    return next(handleType, handleIn, handleOut);
  if (handleOut == nullptr) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  *handleOut = handleIn;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zelSetDriverTeardown() {
  return ZE_RESULT_SUCCESS;
}

void zelSetDelayLoaderContextTeardown() {}

void zelLoaderContextTeardown() {}

bool zelCheckIsLoaderInTearDown() {
  return false;
}

ze_result_t zelRegisterTeardownCallback(zel_loader_teardown_callback_t,
                                        zel_application_teardown_callback_t* loader_callback,
                                        uint32_t* index) {
  if (loader_callback == nullptr || index == nullptr) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  *loader_callback = ignore_teardown;
  *index = 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zelEnableTracingLayer() {
  return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

ze_result_t zelDisableTracingLayer() {
  return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

ze_result_t zelGetTracingLayerState(bool* enabled) {
  if (enabled == nullptr) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  *enabled = false;
  return ZE_RESULT_SUCCESS;
}
