#include "driver/spirv_scope.hpp"

#include <algorithm>
#include <array>

namespace zevent::driver::spirv {
namespace {

bool is_shareable(spv::Op opcode) {
  switch (opcode) {
    case spv::OpTypeVoid:
    case spv::OpTypeBool:
    case spv::OpTypeInt:
    case spv::OpTypeFloat:
    case spv::OpTypeVector:
    case spv::OpTypePointer:
    case spv::OpTypeFunction:
    case spv::OpConstant:
    case spv::OpConstantNull:
    case spv::OpConstantComposite:
      return true;
    default:
      return false;
  }
}

std::vector<uint32_t> key_of(const instruction& each) {
  std::vector<uint32_t> key = {static_cast<uint32_t>(each.opcode), each.type};
  key.insert(key.end(), each.operands.begin(), each.operands.end());
  return key;
}

}  // namespace

void module_scope::begin_functions() {
  const auto first_function =
      std::find_if(module_.instructions.begin(), module_.instructions.end(),
                   [](const instruction& each) { return each.opcode == spv::OpFunction; });
  functions_start_ = static_cast<size_t>(first_function - module_.instructions.begin());
  for (auto each = module_.instructions.begin(); each != first_function; ++each) {
    if (is_shareable(each->opcode)) known_.emplace(key_of(*each), each->result);
  }
}

id module_scope::find_or_add(instruction wanted) {
  auto [known, is_new] = known_.try_emplace(key_of(wanted), 0);
  if (is_new) {
    wanted.result = module_.new_id();
    known->second = wanted.result;
    added_globals_.push_back(std::move(wanted));
  }
  return known->second;
}

id module_scope::type(spv::Op opcode, const std::vector<uint32_t>& operands) {
  return find_or_add(make_instruction(opcode, 0, 0, operands));
}

id module_scope::integer_type(uint32_t bits) {
  return find_or_add(make_literal_instruction(spv::OpTypeInt, 0, 0, {bits, 0}));
}

id module_scope::float_type(uint32_t bits) {
  return find_or_add(make_literal_instruction(spv::OpTypeFloat, 0, 0, {bits}));
}

id module_scope::vector_type(id component, uint32_t count) {
  instruction wanted = make_literal_instruction(spv::OpTypeVector, 0, 0, {component, count});
  wanted.id_operands = {0};
  return find_or_add(std::move(wanted));
}

id module_scope::pointer_type(spv::StorageClass storage, id pointee) {
  instruction wanted =
      make_literal_instruction(spv::OpTypePointer, 0, 0, {static_cast<uint32_t>(storage), pointee});
  wanted.id_operands = {1};
  return find_or_add(std::move(wanted));
}

id module_scope::integer_constant(uint32_t bits, uint64_t value) {
  std::vector<uint32_t> words = {static_cast<uint32_t>(value)};
  if (bits > 32) words.push_back(static_cast<uint32_t>(value >> 32));
  return constant(spv::OpConstant, integer_type(bits), words, false);
}

id module_scope::constant(spv::Op opcode, id type, const std::vector<uint32_t>& operands,
                          bool are_ids) {
  return find_or_add(are_ids ? make_instruction(opcode, type, 0, operands)
                             : make_literal_instruction(opcode, type, 0, operands));
}

void module_scope::decorate(id target, spv::Decoration decoration, std::vector<uint32_t> literals) {
  std::vector<uint32_t> operands = {target, static_cast<uint32_t>(decoration)};
  operands.insert(operands.end(), literals.begin(), literals.end());
  instruction added = make_literal_instruction(spv::OpDecorate, 0, 0, std::move(operands));
  added.id_operands = {0};
  added_decorations_.push_back(std::move(added));
}

void module_scope::flush() {
  auto& all = module_.instructions;
  const auto at = [&](size_t position) { return all.begin() + static_cast<ptrdiff_t>(position); };

  all.insert(at(functions_start_), added_globals_.begin(), added_globals_.end());
  const auto first_type = std::find_if(
      all.begin(), all.end(), [](const instruction& each) { return is_type(each.opcode); });
  all.insert(first_type, added_decorations_.begin(), added_decorations_.end());

  if (!added_globals_.empty()) {
    for (const auto wanted :
         std::array{spv::CapabilityAddresses, spv::CapabilityInt64, spv::CapabilityInt8}) {
      const bool is_there = std::any_of(all.begin(), all.end(), [&](const instruction& each) {
        return each.opcode == spv::OpCapability && each.operands[0] == wanted;
      });
      if (is_there) continue;
      all.insert(all.begin(), make_literal_instruction(spv::OpCapability, 0, 0, {wanted}));
    }
  }
  added_globals_.clear();
  added_decorations_.clear();
  known_.clear();
}

}  // namespace zevent::driver::spirv
