#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "driver/spirv_binary.hpp"
#include "driver/spirv_scope.hpp"

namespace zevent::driver::spirv {

// Puts others in the place of some instructions of a module:
//
//   is_replaced(each)    whether it is one of them
//   replace(each, out)   adds what stands for it to the end of `out`
//
// The module is as it was until all are replaced, so that an index of it serves meanwhile. False:
// there are none, and nothing was done.
template <typename IsReplaced, typename Replace>
bool replace_instructions(binary& module, IsReplaced&& is_replaced, Replace&& replace) {
  const auto& all = module.instructions;
  auto next = std::find_if(all.begin(), all.end(), is_replaced);
  if (next == all.end()) return false;
  std::vector<instruction> out;
  out.reserve(all.size());
  out.insert(out.end(), all.begin(), next);
  for (; next != all.end(); ++next) {
    if (is_replaced(*next)) {
      replace(*next, out);
    } else {
      out.push_back(*next);
    }
  }
  module.instructions = std::move(out);
  return true;
}

// The same, where what stands for them needs types or constants.
template <typename IsReplaced, typename Replace>
bool replace_instructions(binary& module, module_scope& scope, IsReplaced&& is_replaced,
                          Replace&& replace) {
  bool has_begun = false;
  const auto replace_in_scope = [&](const instruction& each, std::vector<instruction>& out) {
    if (!std::exchange(has_begun, true)) scope.begin_functions();
    replace(each, out);
  };
  if (!replace_instructions(module, is_replaced, replace_in_scope)) return false;
  scope.flush();
  return true;
}

}  // namespace zevent::driver::spirv
