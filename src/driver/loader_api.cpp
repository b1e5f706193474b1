// The loader's own functions, for programs that get the driver under the loader's name.

#include <level_zero/layers/zel_tracing_api.h>
#include <level_zero/loader/ze_loader.h>

#include <cstring>

namespace {

// The version of the loader whose functions these are.
constexpr zel_version_t loader_version = {1, 32, 0};

zel_component_version_t describe_loader() {
  zel_component_version_t version{};
  std::strncpy(version.component_name, "loader", ZEL_COMPONENT_STRING_SIZE - 1);
  version.spec_version = ZE_API_VERSION_CURRENT;
  version.component_lib_version = loader_version;
  return version;
}

void ignore_teardown(uint32_t) {}

}  // namespace

extern "C" {

ZE_DLLEXPORT ze_result_t ZE_APICALL zelLoaderGetVersions(size_t* num_elems,
                                                         zel_component_version_t* versions) {
  if (num_elems == nullptr) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  if (versions == nullptr) {
    *num_elems = 1;
    return ZE_RESULT_SUCCESS;
  }
  if (*num_elems == 0) return ZE_RESULT_ERROR_INVALID_SIZE;
  *num_elems = 1;
  versions[0] = describe_loader();
  return ZE_RESULT_SUCCESS;
}

ZE_DLLEXPORT ze_result_t ZE_APICALL zelGetLoaderVersion(zel_component_version_t* version) {
  if (version == nullptr) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  *version = describe_loader();
  return ZE_RESULT_SUCCESS;
}

// Nothing stands between the program and the driver: handles are what they are.
ZE_DLLEXPORT ze_result_t ZE_APICALL zelLoaderTranslateHandle(zel_handle_type_t handleType,
                                                             void* handleIn, void** handleOut) {
  if (handleOut == nullptr) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  if (handleType < ZEL_HANDLE_DRIVER || handleType > ZEL_HANDLE_PHYSICAL_MEM) {
    return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  }
  *handleOut = handleIn;
  return ZE_RESULT_SUCCESS;
}

// The driver is never torn down before the process.
ZE_DLLEXPORT ze_result_t ZE_APICALL zelSetDriverTeardown() {
  return ZE_RESULT_SUCCESS;
}

ZE_DLLEXPORT void ZE_APICALL zelSetDelayLoaderContextTeardown() {}

ZE_DLLEXPORT void ZE_APICALL zelLoaderContextTeardown() {}

ZE_DLLEXPORT bool ZE_APICALL zelCheckIsLoaderInTearDown() {
  return false;
}

ZE_DLLEXPORT ze_result_t ZE_APICALL
zelRegisterTeardownCallback(zel_loader_teardown_callback_t application_callback,
                            zel_application_teardown_callback_t* loader_callback, uint32_t* index) {
  if (application_callback == nullptr || loader_callback == nullptr || index == nullptr) {
    return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  }
  *loader_callback = ignore_teardown;
  *index = 0;
  return ZE_RESULT_SUCCESS;
}

// There is no tracing layer here.
ZE_DLLEXPORT ze_result_t ZE_APICALL zelEnableTracingLayer() {
  return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

ZE_DLLEXPORT ze_result_t ZE_APICALL zelDisableTracingLayer() {
  return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

ZE_DLLEXPORT ze_result_t ZE_APICALL zelGetTracingLayerState(bool* enabled) {
  if (enabled == nullptr) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  *enabled = false;
  return ZE_RESULT_SUCCESS;
}

}  // extern "C"
