#pragma once

#include <string>

#include "driver/spirv_binary.hpp"

namespace zevent::driver::spirv {

// Checks a module against the rules of SPIR-V. What compilers in use get wrong without doing harm
// is let through; the text that comes back names it ("" when there is nothing to say).
result<std::string> validate(const binary& module);

}  // namespace zevent::driver::spirv
