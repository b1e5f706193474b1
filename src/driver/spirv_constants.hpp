#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "driver/spirv_types.hpp"

namespace zevent::driver::spirv {

// A value for the specialisation constant with that SpecId; the bytes are as many as its type has.
struct spec_value {
  uint32_t spec_id = 0;
  const void* value = nullptr;
};

// Makes the given values the defaults of the module's specialisation constants. Ids that the module
// does not have are passed over, as the API wants it.
void apply_spec_constants(binary& module, std::span<const spec_value> values);

// The address of a variable, to be added to the 8 bytes at `offset_bytes` once it is known.
struct relocation {
  uint64_t offset_bytes = 0;
  id variable = 0;
};

struct initial_value {
  std::vector<uint8_t> bytes;
  std::vector<relocation> relocations;
};

// The bytes that the initialiser of a module-scope variable stands for.
result<initial_value> evaluate_initializer(const module_index& index, id constant);

}  // namespace zevent::driver::spirv
