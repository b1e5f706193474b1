#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace zevent::model {

// What the SPIR-V of a kernel says of one of its parameters.
struct kernel_parameter {
  bool may_write = true;
  bool is_used = false;  // for certain: its value, or what it points at, is looked at somewhere
};

// The kernels of a SPIR-V module and what they do with their parameters: by name, one entry per
// parameter. A parameter counts as written unless every use of it, and of what is derived from it,
// is seen only to read. Whatever is not SPIR-V gives no kernels.
std::map<std::string, std::vector<kernel_parameter>, std::less<>> spirv_kernels(
    std::span<const std::byte> module);

}  // namespace zevent::model
