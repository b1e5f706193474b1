#pragma once

#include "driver/spirv_binary.hpp"

namespace zevent::driver::spirv {

// Powers to a small constant whole number become multiplications, which are as exact as pown has to
// be, and some fifty times as fast as the kernel compiler's.
void lower_powers(binary& module);

}  // namespace zevent::driver::spirv
