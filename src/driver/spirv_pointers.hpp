#pragma once

#include "driver/spirv_binary.hpp"

namespace zevent::driver::spirv {

// Comparisons and differences of pointers (SPIR-V 1.4) become those of numbers: the kernel
// compiler's translator knows no others.
void lower_pointer_comparisons(binary& module);

}  // namespace zevent::driver::spirv
