#pragma once

#include <string>
#include <vector>

#include "driver/spirv_binary.hpp"

namespace zevent::driver::spirv {

// A kernel that has been added to a module to tell where one of its functions is: its only argument
// is a pointer to the 64 bits that the address goes to.
struct address_kernel {
  std::string function;
  std::string entry_point;
};

// Adds such kernels for the functions that a module exports, if it uses pointers to functions
// (SPV_INTEL_function_pointers).
std::vector<address_kernel> add_address_kernels(binary& module);

// Makes functions that call pointers, or functions that do, part of the kernels, where the module
// prints: the kernel compiler looks for printf in whatever is called, and ends at a pointer.
void inline_calls_of_pointers(binary& module);

}  // namespace zevent::driver::spirv
