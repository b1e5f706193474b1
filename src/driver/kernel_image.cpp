#include "driver/kernel_image.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstring>

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

// As the function's first instructions say, which make room for it: sub $bytes,%rsp.
uint32_t kernel_image::stack_frame_bytes() const {
  constexpr size_t longest_prologue_bytes = 96;
  constexpr std::array<uint8_t, 3> subtracts_long = {0x48, 0x81, 0xec};
  constexpr std::array<uint8_t, 3> subtracts_byte = {0x48, 0x83, 0xec};
  Dl_info library{};
  const ElfW(Sym)* symbol = nullptr;
  if (dladdr1(reinterpret_cast<void*>(run_group_), &library,
              reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol)), RTLD_DL_SYMENT) == 0 ||
      symbol == nullptr) {
    return 0;
  }
  const auto* code = reinterpret_cast<const uint8_t*>(run_group_);
  const size_t end = std::min<size_t>(symbol->st_size, longest_prologue_bytes);
  for (size_t i = 0; i + 7 <= end; ++i) {
    if (std::equal(subtracts_byte.begin(), subtracts_byte.end(), code + i)) return code[i + 3];
    if (!std::equal(subtracts_long.begin(), subtracts_long.end(), code + i)) continue;
    uint32_t bytes = 0;
    std::memcpy(&bytes, code + i + 3, sizeof bytes);
    return bytes;
  }
  return 0;
}

kernel_image::~kernel_image() {
  dlclose(library_);
}

}  // namespace zevent::driver
