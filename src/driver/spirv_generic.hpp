#pragma once

#include "driver/spirv_binary.hpp"

namespace zevent::driver::spirv {

// Lets atomic operations and built-in functions take generic pointers, which the kernel compiler
// has them only for memory of a known kind: they get global ones, and events private ones. On a CPU
// that is all the same.
void lower_generic_pointers(binary& module);

}  // namespace zevent::driver::spirv
