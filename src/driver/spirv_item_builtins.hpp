#pragma once

#include <cstddef>

#include "driver/spirv_types.hpp"

namespace zevent::driver::spirv {

enum class builtin_shape { number, three_numbers, mask };

// A built-in variable that tells a work-item something about itself, and where in its work_item
// that is.
struct item_builtin {
  spv::BuiltIn builtin;
  size_t offset_bytes;
  builtin_shape shape;
  bool is_of_sub_groups;
};

// Null where it is none of them.
const item_builtin* find_item_builtin(spv::BuiltIn wanted);

// Whether a variable of that type can be read from a work_item.
bool has_shape(const module_index& index, id type, builtin_shape wanted);

}  // namespace zevent::driver::spirv
