#pragma once

#include "driver/spirv_binary.hpp"

namespace zevent::driver::spirv {

// OpenCL C lets a kernel ask for dimensions that are not there: get_global_id(7) is 0,
// get_global_size(7) is 1. The translator from LLVM makes that components which a vector of three
// does not have, which the validator refuses where their number is a constant, and for which there
// is no telling what they are where it is not. They get these values.
void answer_for_all_dimensions(binary& module);

}  // namespace zevent::driver::spirv
