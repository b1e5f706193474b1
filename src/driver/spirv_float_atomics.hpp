#pragma once

#include "driver/spirv_binary.hpp"

namespace zevent::driver::spirv {

// Atomic operations on floating-point numbers that the kernel compiler does not know become calls
// of functions that do the same with compare and exchange of integers: addition, least and greatest
// of numbers of 32 and 64 bits; load, store and exchange of numbers of 16 bits, by way of the
// 32 bits around them.
void lower_float_atomics(binary& module);

}  // namespace zevent::driver::spirv
