#include "driver/spirv_float_atomics.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "driver/spirv_rewrite.hpp"
#include "driver/spirv_types.hpp"

namespace zevent::driver::spirv {
namespace {

constexpr uint32_t relaxed_semantics = spv::MemorySemanticsMaskNone;
constexpr uint32_t sequentially_consistent =
    uint32_t{spv::MemorySemanticsSequentiallyConsistentMask} |
    uint32_t{spv::MemorySemanticsCrossWorkgroupMemoryMask} |
    uint32_t{spv::MemorySemanticsWorkgroupMemoryMask};

bool computes(spv::Op opcode) {
  return opcode == spv::OpAtomicFAddEXT || opcode == spv::OpAtomicFMinEXT ||
         opcode == spv::OpAtomicFMaxEXT;
}

bool moves(spv::Op opcode) {
  return opcode == spv::OpAtomicLoad || opcode == spv::OpAtomicStore ||
         opcode == spv::OpAtomicExchange;
}

class float_atomics {
 public:
  explicit float_atomics(binary& module) : module_(module), index_(module), scope_(module) {
    for (const instruction& each : module.instructions) {
      if (each.result != 0 && each.type != 0) types_[each.result] = each.type;
    }
  }

  void run() {
    const bool has_any = replace_instructions(
        module_, scope_, [&](const instruction& each) { return pointer_type_of(each) != nullptr; },
        [&](const instruction& each, std::vector<instruction>& out) {
          replace(each, *pointer_type_of(each), out);
        });
    if (!has_any) return;
    std::move(bodies_.begin(), bodies_.end(), std::back_inserter(module_.instructions));
    forget_extensions();
  }

 private:
  // The type of the pointer, if the instruction is one to replace.
  const instruction* pointer_type_of(const instruction& each) const {
    if (!computes(each.opcode) && !moves(each.opcode)) return nullptr;
    const auto type = types_.find(each.operands[0]);
    const instruction* pointer = type != types_.end() ? index_.definition(type->second) : nullptr;
    if (pointer == nullptr || pointer->opcode != spv::OpTypePointer) return nullptr;
    const instruction* pointee = index_.definition(pointer->operands[1]);
    if (pointee == nullptr || pointee->opcode != spv::OpTypeFloat) return nullptr;
    const uint32_t bits = pointee->operands[0];
    if (computes(each.opcode)) return bits == 32 || bits == 64 ? pointer : nullptr;
    return bits == 16 ? pointer : nullptr;
  }

  void replace(const instruction& each, const instruction& pointer, std::vector<instruction>& out) {
    const id number = pointer.operands[1];
    // Pointer, scope and order; a store has the value fourth too, and a load none.
    std::vector<uint32_t> call = {function_for(each.opcode, pointer), each.operands[0]};
    if (each.opcode != spv::OpAtomicLoad) call.push_back(each.operands[3]);
    const id result = each.result != 0 ? each.result : module_.new_id();
    out.push_back(make_instruction(spv::OpFunctionCall, number, result, std::move(call)));
  }

  id function_for(spv::Op opcode, const instruction& pointer) {
    if (opcode == spv::OpAtomicStore) opcode = spv::OpAtomicExchange;
    id& function = functions_[{opcode, pointer.result}];
    if (function == 0) function = write_function(opcode, pointer);
    return function;
  }

  id emit(spv::Op opcode, id type, std::vector<uint32_t> ids) {
    const id made = type != 0 ? module_.new_id() : 0;
    bodies_.push_back(make_instruction(opcode, type, made, std::move(ids)));
    return made;
  }

  void begin_block(id label) { bodies_.push_back(make_instruction(spv::OpLabel, 0, label, {})); }

  id write_function(spv::Op opcode, const instruction& pointer) {
    const auto storage = static_cast<spv::StorageClass>(pointer.operands[0]);
    const id number = pointer.operands[1];
    const uint32_t bits = index_.definition(number)->operands[0];
    const bool has_value = opcode != spv::OpAtomicLoad;
    std::vector<uint32_t> signature = {number, pointer.result};
    if (has_value) signature.push_back(number);
    const id function = module_.new_id();
    instruction head = make_literal_instruction(
        spv::OpFunction, number, function,
        {spv::FunctionControlMaskNone, scope_.type(spv::OpTypeFunction, signature)});
    head.id_operands = {1};
    bodies_.push_back(std::move(head));
    const id address = emit(spv::OpFunctionParameter, pointer.result, {});
    const id value = has_value ? emit(spv::OpFunctionParameter, number, {}) : 0;
    begin_block(module_.new_id());
    if (bits == 16) {
      write_half(opcode, storage, number, address, value);
    } else {
      write_computation(opcode, storage, number, bits, address, value);
    }
    emit(spv::OpFunctionEnd, 0, {});
    return function;
  }

  id load(id integer, id address) {
    return emit(spv::OpAtomicLoad, integer, {address, device_scope(), constant(relaxed_semantics)});
  }

  // Puts `wanted` in place of `old`, or goes back to `retry`; what is written next is for success.
  void exchange_or(id retry, id integer, id address, id old, id wanted) {
    const id found = emit(spv::OpAtomicCompareExchange, integer,
                          {address, device_scope(), constant(sequentially_consistent),
                           constant(sequentially_consistent), wanted, old});
    const id same = emit(spv::OpIEqual, truth(), {found, old});
    const id done = module_.new_id();
    emit(spv::OpBranchConditional, 0, {same, done, retry});
    begin_block(done);
  }

  void write_computation(spv::Op opcode, spv::StorageClass storage, id number, uint32_t bits,
                         id address, id value) {
    const id integer = scope_.integer_type(bits);
    const id place = emit(spv::OpBitcast, scope_.pointer_type(storage, integer), {address});
    const id loop = module_.new_id();
    emit(spv::OpBranch, 0, {loop});
    begin_block(loop);
    const id old_bits = load(integer, place);
    const id old = emit(spv::OpBitcast, number, {old_bits});
    const id computed = compute(opcode, number, old, value);
    exchange_or(loop, integer, place, old_bits, emit(spv::OpBitcast, integer, {computed}));
    emit(spv::OpReturnValue, 0, {old});
  }

  // The least and the greatest are those of fmin and fmax: what is not a number gives way.
  id compute(spv::Op opcode, id number, id old, id value) {
    if (opcode == spv::OpAtomicFAddEXT) return emit(spv::OpFAdd, number, {old, value});
    const spv::Op compare =
        opcode == spv::OpAtomicFMinEXT ? spv::OpFOrdLessThan : spv::OpFOrdGreaterThan;
    const id better = emit(compare, truth(), {value, old});
    const id no_number = emit(spv::OpIsNan, truth(), {old});
    const id takes = emit(spv::OpLogicalOr, truth(), {better, no_number});
    return emit(spv::OpSelect, number, {takes, value, old});
  }

  void write_half(spv::Op opcode, spv::StorageClass storage, id number, id address, id value) {
    const id narrow = scope_.integer_type(16);
    const id word = scope_.integer_type(32);
    const id wide = scope_.integer_type(64);
    const id bytes = emit(spv::OpConvertPtrToU, wide, {address});
    const id aligned =
        emit(spv::OpBitwiseAnd, wide, {bytes, scope_.integer_constant(64, ~uint64_t{3})});
    const id place = emit(spv::OpConvertUToPtr, scope_.pointer_type(storage, word), {aligned});
    const id half = emit(spv::OpBitwiseAnd, wide, {bytes, scope_.integer_constant(64, 2)});
    const id shift = emit(spv::OpIMul, word, {emit(spv::OpUConvert, word, {half}), constant(8)});
    const id loop = module_.new_id();
    emit(spv::OpBranch, 0, {loop});
    begin_block(loop);
    const id old = load(word, place);
    if (opcode == spv::OpAtomicExchange) {
      const id mask = emit(spv::OpShiftLeftLogical, word, {constant(0xffff), shift});
      const id rest = emit(spv::OpBitwiseAnd, word, {old, emit(spv::OpNot, word, {mask})});
      const id bits = emit(spv::OpUConvert, word, {emit(spv::OpBitcast, narrow, {value})});
      const id placed = emit(spv::OpShiftLeftLogical, word, {bits, shift});
      exchange_or(loop, word, place, old, emit(spv::OpBitwiseOr, word, {rest, placed}));
    }
    const id shifted = emit(spv::OpShiftRightLogical, word, {old, shift});
    const id low = emit(spv::OpUConvert, narrow, {shifted});
    emit(spv::OpReturnValue, 0, {emit(spv::OpBitcast, number, {low})});
  }

  id truth() { return scope_.type(spv::OpTypeBool, {}); }
  id constant(uint32_t value) { return scope_.integer_constant(32, value); }
  id device_scope() { return constant(spv::ScopeDevice); }

  // Nothing of them is left, and the kernel compiler might refuse them.
  void forget_extensions() {
    std::erase_if(module_.instructions, [](const instruction& each) {
      if (each.opcode == spv::OpExtension) {
        return each.string_at(0).starts_with("SPV_EXT_shader_atomic_float");
      }
      if (each.opcode != spv::OpCapability) return false;
      switch (each.operands[0]) {
        case spv::CapabilityAtomicFloat16AddEXT:
        case spv::CapabilityAtomicFloat32AddEXT:
        case spv::CapabilityAtomicFloat64AddEXT:
        case spv::CapabilityAtomicFloat16MinMaxEXT:
        case spv::CapabilityAtomicFloat32MinMaxEXT:
        case spv::CapabilityAtomicFloat64MinMaxEXT:
          return true;
        default:
          return false;
      }
    });
  }

  binary& module_;
  const module_index index_;
  module_scope scope_;
  std::unordered_map<id, id> types_;                // of values
  std::map<std::pair<spv::Op, id>, id> functions_;  // by operation and type of the pointer
  std::vector<instruction> bodies_;
};

}  // namespace

void lower_float_atomics(binary& module) {
  float_atomics(module).run();
}

}  // namespace zevent::driver::spirv
