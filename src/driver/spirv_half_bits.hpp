#pragma once

#include "driver/spirv_binary.hpp"

namespace zevent::driver::spirv {

// Built-in functions that move halves or choose among them, those that are about the bits of a half
// (nan, nextafter, isnormal), and conversions to halves that say how to round become operations on
// 16-bit numbers: the kernel compiler has none for halves, and single precision would not do.
void lower_half_bits(binary& module);

}  // namespace zevent::driver::spirv
