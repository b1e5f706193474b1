#pragma once

#include "driver/spirv_binary.hpp"

namespace zevent::driver::spirv {

// Atomic operations through pointers of the generic address space, which the kernel compiler's
// library lacks, become operations on global memory: all address spaces are the same memory here.
void lower_generic_atomics(binary& module);

}  // namespace zevent::driver::spirv
