#pragma once

#include "driver/spirv_binary.hpp"

namespace zevent::driver::spirv {

// Built-in functions that the kernel compiler's library gets wrong or lacks:
//
//  - Those that take much computing lose a vector of more than 16 bytes on the way where the
//    processor has no register for it; nobody says so. They are called for parts of it. The few
//    instructions of the others are part of the kernel, and stay as they are.
//  - half_cos and the like, of single precision, are not there; the exact ones are.
void lower_math_functions(binary& module);

}  // namespace zevent::driver::spirv
