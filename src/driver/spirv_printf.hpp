#pragma once

#include "driver/spirv_binary.hpp"

namespace zevent::driver::spirv {

// Hands small vectors to printf as numbers, and halves as floats. The kernel compiler passes them
// otherwise than its printf reads them.
void lower_printf(binary& module);

}  // namespace zevent::driver::spirv
