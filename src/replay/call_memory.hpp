#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "api/value.hpp"

namespace zevent::replay {

// An address that a call passes without saying what is there: memory that commands work on.
struct address_use {
  uint64_t address = 0;
  const api::variable* variable = nullptr;
  size_t position = 0;  // in an array of addresses
  uint64_t bytes = 0;   // how many from there the call may touch; at least 1
};

// Every address among the inputs that is not null.
void for_each_address(const api::model& model, const api::call_values& inputs,
                      const std::function<void(const address_use&)>& visit);

// How many bytes a call may touch at the address that `variable` is. `siblings` are the values
// among which its sizes are: the parameters, or the fields of a struct.
uint64_t bytes_touched(const api::model& model, const api::variable& variable,
                       const std::vector<api::value>& siblings, size_t position);

}  // namespace zevent::replay
