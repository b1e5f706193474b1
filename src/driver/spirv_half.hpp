#pragma once

#include "driver/spirv_binary.hpp"

namespace zevent::driver::spirv {

// Calls built-in functions of half-precision numbers with single-precision ones, and rounds what
// they give: the kernel compiler has none for halves. Those that give a second half through a
// pointer (fract, modf, sincos) are put together from others. Not where single precision would make
// it another function, as with the next number after one.
void lower_half_functions(binary& module);

}  // namespace zevent::driver::spirv
