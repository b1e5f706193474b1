#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "driver/spirv_scope.hpp"
#include "driver/spirv_types.hpp"

namespace zevent::driver::spirv {

// An operation of sub-groups or groups which makes work-items run apart.
bool is_group_operation(const module_index& index, const instruction& each);
// An operation that has to be done otherwise if they do.
bool concerns_group(const instruction& each);

// What is known of the module when a function is rewritten.
struct item_module {
  const module_index& index;
  module_scope& scope;
  binary& module;  // for new ids
  const std::unordered_map<id, spv::BuiltIn>& builtins;
  const std::unordered_map<id, id>&
      rewritten;  // functions that take a work-item, and their ids now
};

struct item_function {
  std::vector<instruction> instructions;
  // How far the path of a work-item goes in it, and where it calls others.
  size_t longest_path = 0;
  struct call {
    id callee;  // by its id before
    size_t path_length;
  };
  std::vector<call> calls;
};

// Rewrites a function for a single work-item. The hidden parameters are the pointer to it and,
// unless the function is a kernel, how long its path is already.
result<item_function> write_item_function(const item_module& module,
                                          std::span<const instruction> source, bool is_kernel);

}  // namespace zevent::driver::spirv
