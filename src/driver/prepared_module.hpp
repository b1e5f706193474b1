#pragma once

#include <level_zero/ze_api.h>

#include <memory>
#include <span>
#include <string>

#include "driver/spirv_lower.hpp"

namespace zevent::driver {

struct module_input {
  std::span<const uint8_t> bytes;
  const ze_module_constants_t* constants;  // may be null
};

// SPIR-V made ready: what it declares, and what the kernel compiler is given of it. It depends on
// nothing but its inputs and never changes, so modules and programs share it.
struct prepared_module {
  spirv::binary spirv;  // specialised and linked
  spirv::module_signature signature;
  spirv::lowered_module lowered;
  std::string warnings;
};

// Takes SPIR-V that has been checked.
result<std::shared_ptr<const prepared_module>> prepare(spirv::binary module);

// Checks, specialises and links SPIR-V from anywhere. What was asked for last is remembered:
// programs that make one module again and again do not pay again and again.
result<std::shared_ptr<const prepared_module>> prepare(std::span<const module_input> inputs);

}  // namespace zevent::driver
