#include "driver/kernel_image.hpp"

#include <dlfcn.h>

namespace zevent::driver {

result<std::shared_ptr<const kernel_image>> kernel_image::load(const std::filesystem::path& file,
                                                               const std::string& kernel) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return fail("the machine code cannot be loaded: {}", dlerror());
  const auto function = reinterpret_cast<work_group_function>(
      dlsym(library, fmt::format("_pocl_kernel_{}_workgroup", kernel).c_str()));
  if (function == nullptr) {
    dlclose(library);
    return fail("{} does not contain kernel {}", file.string(), kernel);
  }
  return std::shared_ptr<const kernel_image>(new kernel_image(library, function));
}

kernel_image::~kernel_image() {
  dlclose(library_);
}

}  // namespace zevent::driver
