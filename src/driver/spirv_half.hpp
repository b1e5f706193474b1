#pragma once

#include "driver/spirv_binary.hpp"

namespace zevent::driver::spirv {

// Calls built-in functions of half-precision numbers with single-precision ones, and rounds what
// they give: the kernel compiler has none for halves. Not where that would be another function, as
// with the next number after one, or where the number is reached through a pointer.
void lower_half_functions(binary& module);

}  // namespace zevent::driver::spirv
