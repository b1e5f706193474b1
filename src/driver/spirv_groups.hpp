#pragma once

#include <unordered_set>

#include "driver/spirv_binary.hpp"

namespace zevent::driver::spirv {

// The functions that belong to kernels whose work-items run apart.
struct apart_functions {
  std::unordered_set<id> kernels;    // each has one more argument, a pointer to the work_item
  std::unordered_set<id> functions;  // these and those that they call
};

// Makes the work-items of kernels that use sub-groups, or collective functions of groups, or have
// barriers that not all may come to, run apart: barriers and operations of groups become calls into
// the driver, and built-in variables are read from the work_item. Other kernels stay as they are;
// functions that both kinds call are there twice then.
result<apart_functions> lower_groups(binary& module);

// The calls into the driver are through a pointer.
void declare_calls_of_pointers(binary& module);

}  // namespace zevent::driver::spirv
