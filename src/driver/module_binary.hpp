#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace zevent::driver {

// What zeModuleGetNativeBinary gives out and zeModuleCreate takes back: the module after
// specialisation and linking, with its build flags. Clients keep it in files.
//
//   0   8  "ZEVNATIV"
//   8   4  version, 1
//   12  4  bytes of flags, F
//   16  8  bytes of SPIR-V, S
//   24  8  XXH3 of what follows
//   32  F  flags, as zeModuleCreate was given them, but "-ze-opt-level=O2" for "-ze-opt-level=2"
//   32+F S SPIR-V
struct module_binary {
  std::string flags;
  std::vector<uint32_t> words;
};

std::vector<uint8_t> write_module_binary(const module_binary& module);
result<module_binary> read_module_binary(std::span<const uint8_t> untrusted);

}  // namespace zevent::driver
