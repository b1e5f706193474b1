#pragma once

#include "driver/spirv_binary.hpp"

namespace zevent::driver::spirv {

// Fences become calls of the kernel compiler's atomic_work_item_fence: its translator makes them
// calls of mem_fence, which its library has not got.
void lower_fences(binary& module);

}  // namespace zevent::driver::spirv
