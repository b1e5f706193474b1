#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "driver/spirv_binary.hpp"
#include "driver/spirv_scope.hpp"
#include "driver/spirv_types.hpp"

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

// What passes have in common that put several instructions in the place of one.
class instruction_lowering {
 protected:
  explicit instruction_lowering(binary& module) : module_(module), index_(module), scope_(module) {}

  // As above; what stands for an instruction is given to add() and emit().
  template <typename IsReplaced, typename Replace>
  void replace_all(IsReplaced&& is_replaced, Replace&& replace) {
    replace_instructions(module_, scope_, is_replaced,
                         [&](const instruction& each, std::vector<instruction>& out) {
                           out_ = &out;
                           replace(each);
                         });
  }

  void add(instruction added) { out_->push_back(std::move(added)); }

  // The same with a result of its own, which is returned.
  id emit(instruction added) {
    added.result = module_.new_id();
    add(std::move(added));
    return out_->back().result;
  }
  id emit(spv::Op opcode, id type, std::vector<uint32_t> ids) {
    return emit(make_instruction(opcode, type, 0, std::move(ids)));
  }

  // One component of a vector.
  id emit_component(id type, id vector, uint32_t number) {
    instruction extract =
        make_literal_instruction(spv::OpCompositeExtract, type, 0, {vector, number});
    extract.id_operands = {0};
    return emit(std::move(extract));
  }

  id type_of(id value) const {
    const instruction* found = index_.definition(value);
    return found != nullptr ? found->type : 0;
  }

  // A floating-point number of so many bits, or a vector of them.
  bool is_float(id type, uint32_t bits) const {
    const instruction* found = index_.definition(type);
    if (found != nullptr && found->opcode == spv::OpTypeVector) {
      found = index_.definition(found->operands[0]);
    }
    return found != nullptr && found->opcode == spv::OpTypeFloat && found->operands[0] == bits;
  }
  bool is_half(id type) const { return is_float(type, 16); }

  binary& module_;
  const module_index index_;
  module_scope scope_;

 private:
  std::vector<instruction>* out_ = nullptr;
};

}  // namespace zevent::driver::spirv
