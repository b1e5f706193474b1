#include "driver/pocl/opencl.hpp"

#include <dlfcn.h>

#include <array>
#include <utility>

namespace zevent::pocl {
namespace {

constexpr const char* library_name = "libpocl.so.2";

using get_extension_function = void* (*)(const char*);
using get_platforms = cl_int (*)(cl_uint, cl_platform_id*, cl_uint*);

}  // namespace

result<platform> load_platform() {
  void* library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return fail(
        "kernels are run by PoCL, which is not installed here ({}); install it: apt-get "
        "install libpocl2t64 (libpocl2 on Debian 12)",
        dlerror());
  }
  const auto get_function =
      reinterpret_cast<get_extension_function>(dlsym(library, "clGetExtensionFunctionAddress"));
  if (get_function == nullptr) return fail("{} is not an OpenCL library", library_name);
  const auto get_ids = reinterpret_cast<get_platforms>(get_function("clIcdGetPlatformIDsKHR"));
  platform found;
  if (get_ids == nullptr || get_ids(1, &found.id, nullptr) != CL_SUCCESS) {
    return fail("{} has no OpenCL platform", library_name);
  }
  // Every object of an ICD starts with a pointer to the dispatch table (cl_khr_icd).
  found.cl = *reinterpret_cast<const cl_icd_dispatch* const*>(found.id);

  std::array<char, 256> version{};
  found.cl->clGetPlatformInfo(found.id, CL_PLATFORM_VERSION, version.size() - 1, version.data(),
                              nullptr);
  auto tools = toolchain_of(version.data());
  if (!tools) return tl::unexpected(tools.error());
  found.tools = std::move(*tools);
  if (found.cl->clGetDeviceIDs(found.id, CL_DEVICE_TYPE_ALL, 1, &found.device, nullptr) !=
      CL_SUCCESS) {
    return fail("PoCL has no device here");
  }
  return found;
}

}  // namespace zevent::pocl
