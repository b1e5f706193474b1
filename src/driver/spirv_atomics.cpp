#include "driver/spirv_atomics.hpp"

#include <unordered_map>
#include <utility>

#include "driver/spirv_scope.hpp"
#include "driver/spirv_types.hpp"

namespace zevent::driver::spirv {
namespace {

bool is_atomic(spv::Op opcode) {
  return (opcode >= spv::OpAtomicLoad && opcode <= spv::OpAtomicXor) ||
         opcode == spv::OpAtomicFlagTestAndSet || opcode == spv::OpAtomicFlagClear ||
         opcode == spv::OpAtomicFAddEXT || opcode == spv::OpAtomicFMinEXT ||
         opcode == spv::OpAtomicFMaxEXT;
}

// The type of every value that instructions make.
std::unordered_map<id, id> types_of_values(const binary& module) {
  std::unordered_map<id, id> types;
  for (const instruction& each : module.instructions) {
    if (each.result != 0 && each.type != 0) types[each.result] = each.type;
  }
  return types;
}

}  // namespace

void lower_generic_atomics(binary& module) {
  const module_index index(module);
  const auto types = types_of_values(module);
  module_scope scope(module);
  scope.begin_functions();
  std::vector<instruction> out;
  out.reserve(module.instructions.size());
  bool changed = false;
  for (instruction each : module.instructions) {
    if (is_atomic(each.opcode)) {
      const auto type = types.find(each.operands[0]);
      const instruction* pointer = type != types.end() ? index.definition(type->second) : nullptr;
      if (pointer != nullptr && pointer->opcode == spv::OpTypePointer &&
          pointer->operands[0] == spv::StorageClassGeneric) {
        const id cast = module.new_id();
        out.push_back(make_instruction(
            spv::OpGenericCastToPtr,
            scope.pointer_type(spv::StorageClassCrossWorkgroup, pointer->operands[1]), cast,
            {each.operands[0]}));
        each.operands[0] = cast;
        changed = true;
      }
    }
    out.push_back(std::move(each));
  }
  if (!changed) return;
  module.instructions = std::move(out);
  scope.flush();
}

}  // namespace zevent::driver::spirv
