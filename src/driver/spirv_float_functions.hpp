#pragma once

#include "driver/spirv_binary.hpp"

namespace zevent::driver::spirv {

// sin, cos, tan, asin, acos, atan, exp, exp2, exp10, log, log2 and log10 of single precision, and
// the native ones among them, become calls of functions that compute in double precision. They have
// few instructions and call nothing, so that the kernel compiler can vectorise them, and are wrong
// by at most 0.52 units in the last place. The kernel compiler's own take up to thirty times as
// long.
void lower_float_functions(binary& module);

}  // namespace zevent::driver::spirv
