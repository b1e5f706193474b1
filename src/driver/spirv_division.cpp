#include "driver/spirv_division.hpp"

#include <utility>

#include "driver/spirv_rewrite.hpp"
#include "driver/spirv_types.hpp"

namespace zevent::driver::spirv {
namespace {

bool is_signed_division(spv::Op opcode) {
  return opcode == spv::OpSDiv || opcode == spv::OpSRem || opcode == spv::OpSMod;
}

bool is_division(spv::Op opcode) {
  return is_signed_division(opcode) || opcode == spv::OpUDiv || opcode == spv::OpUMod;
}

class division_guard {
 public:
  explicit division_guard(binary& module) : module_(module), index_(module), scope_(module) {}

  void run() {
    replace_instructions(
        module_, scope_,
        [&](const instruction& each) { return is_division(each.opcode) && needs_guard(each); },
        [&](const instruction& each, std::vector<instruction>& out) { guard(each, out); });
  }

 private:
  // Most divisors are constants that are harmless.
  bool needs_guard(const instruction& division) const {
    const instruction* type = index_.definition(division.type);
    if (type == nullptr) return false;
    const auto divisor = index_.integer_constant(division.operands[1]);
    if (!divisor || *divisor == 0) return true;
    if (!is_signed_division(division.opcode) || type->opcode != spv::OpTypeInt) return false;
    return is_minus_one(*divisor, type->operands[0]);
  }

  static bool is_minus_one(uint64_t value, uint32_t bits) {
    const uint64_t mask = bits >= 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
    return (value & mask) == mask;
  }

  // A number in every component of a scalar or vector type.
  id splat(id type, uint64_t value) {
    const instruction* definition = index_.definition(type);
    if (definition->opcode != spv::OpTypeVector) {
      const uint32_t bits = definition->operands[0];
      const uint64_t mask = bits >= 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
      std::vector<uint32_t> words = {static_cast<uint32_t>(value & mask)};
      if (bits > 32) words.push_back(static_cast<uint32_t>(value >> 32));
      return scope_.constant(spv::OpConstant, type, words, false);
    }
    const std::vector<uint32_t> parts(definition->operands[1],
                                      splat(definition->operands[0], value));
    return scope_.constant(spv::OpConstantComposite, type, parts, true);
  }

  id truth_type(id type) {
    const instruction* definition = index_.definition(type);
    const id single = scope_.type(spv::OpTypeBool, {});
    if (definition->opcode != spv::OpTypeVector) return single;
    return scope_.vector_type(single, definition->operands[1]);
  }

  uint32_t bits_of(id type) const {
    const instruction* definition = index_.definition(type);
    if (definition != nullptr && definition->opcode == spv::OpTypeVector) {
      definition = index_.definition(definition->operands[0]);
    }
    return definition != nullptr && definition->opcode == spv::OpTypeInt ? definition->operands[0]
                                                                         : 0;
  }

  uint32_t components_of(id type) const {
    const instruction* definition = index_.definition(type);
    return definition->opcode == spv::OpTypeVector ? definition->operands[1] : 1;
  }

  void guard(const instruction& division, std::vector<instruction>& out) {
    const uint32_t bits = bits_of(division.type);
    if (bits == 0 || bits > 64 || components_of(division.type) > 16) {
      out.push_back(division);
      return;
    }
    const auto emit = [&](spv::Op opcode, id type, std::vector<uint32_t> ids) {
      const id made = module_.new_id();
      out.push_back(make_instruction(opcode, type, made, std::move(ids)));
      return made;
    };
    const id truth = truth_type(division.type);
    const id dividend = division.operands[0];
    const id divisor = division.operands[1];
    id traps = emit(spv::OpIEqual, truth, {divisor, splat(division.type, 0)});
    if (is_signed_division(division.opcode)) {
      const id is_least =
          emit(spv::OpIEqual, truth, {dividend, splat(division.type, uint64_t{1} << (bits - 1))});
      const id is_negated = emit(spv::OpIEqual, truth, {divisor, splat(division.type, UINT64_MAX)});
      const id overflows = emit(spv::OpLogicalAnd, truth, {is_least, is_negated});
      traps = emit(spv::OpLogicalOr, truth, {traps, overflows});
    }
    instruction guarded = division;
    guarded.operands[1] =
        emit(spv::OpSelect, division.type, {traps, splat(division.type, 1), divisor});
    out.push_back(std::move(guarded));
  }

  binary& module_;
  const module_index index_;
  module_scope scope_;
};

}  // namespace

void guard_divisions(binary& module) {
  division_guard(module).run();
}

}  // namespace zevent::driver::spirv
