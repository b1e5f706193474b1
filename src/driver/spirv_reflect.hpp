#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "driver/spirv_types.hpp"

namespace zevent::driver::spirv {

enum class argument_kind {
  value,          // a number, vector or struct, copied
  pointer,        // to global or constant memory
  local_pointer,  // to local memory that the launch allocates
  image,          // becomes a pointer (see lower_images)
  sampler,        // becomes a 64-bit number
  opaque,         // anything else: pipes, queues, events
};

struct kernel_argument {
  argument_kind kind = argument_kind::value;
  uint64_t size_bytes = 0;
  uint64_t alignment_bytes = 1;
};

struct kernel_signature {
  std::string name;
  id function = 0;
  std::vector<kernel_argument> arguments;
  std::array<uint32_t, 3> required_group_size{};  // zeros: not required
  uint32_t required_subgroup_size = 0;            // 0: not required
  uint32_t required_subgroup_count = 0;           // 0: not required
  std::string attributes;  // as written in OpenCL C: "reqd_work_group_size(8,1,1)"
};

struct spec_constant {
  uint32_t spec_id = 0;
  uint64_t size_bytes = 0;
};

struct linked_symbol {
  std::string name;
  bool is_function = false;
};

// What a module offers and needs.
struct module_signature {
  std::vector<kernel_signature> kernels;  // in the order of the module
  std::vector<spec_constant> spec_constants;
  std::vector<linked_symbol> exports;
  std::vector<linked_symbol> imports;  // without the built-in variables of SPIR-V
  bool uses_printf = false;
};

result<module_signature> reflect(const binary& module);

}  // namespace zevent::driver::spirv
