#pragma once

#include <span>

#include "driver/spirv_binary.hpp"

namespace zevent::driver::spirv {

// Joins modules into one in which imports are resolved by the exports of the others. Symbols of the
// kind LinkOnceODR may be defined several times. Imports that nobody exports stay imports.
result<binary> link(std::span<const binary> modules);

// Takes away the kernels, leaving functions and variables for others to import.
void remove_kernels(binary& module);

}  // namespace zevent::driver::spirv
