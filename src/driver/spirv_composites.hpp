#pragma once

#include "driver/spirv_binary.hpp"

namespace zevent::driver::spirv {

// Makes vectors, structs and arrays part by part: the kernel compiler's translator can make them at
// once of constants only.
void lower_composites(binary& module);

}  // namespace zevent::driver::spirv
