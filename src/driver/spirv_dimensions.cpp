#include "driver/spirv_dimensions.hpp"

#include <optional>

#include "driver/spirv_rewrite.hpp"

namespace zevent::driver::spirv {
namespace {

constexpr uint32_t dimensions = 3;

// What a built-in variable is said to be in the dimensions that are not there.
std::optional<uint32_t> value_elsewhere(spv::BuiltIn builtin) {
  switch (builtin) {
    case spv::BuiltInGlobalInvocationId:
    case spv::BuiltInLocalInvocationId:
    case spv::BuiltInWorkgroupId:
    case spv::BuiltInGlobalOffset:
      return 0;
    case spv::BuiltInGlobalSize:
    case spv::BuiltInWorkgroupSize:
    case spv::BuiltInEnqueuedWorkgroupSize:
    case spv::BuiltInNumWorkgroups:
      return 1;
    default:
      return std::nullopt;
  }
}

class dimension_lowering : instruction_lowering {
 public:
  explicit dimension_lowering(binary& module) : instruction_lowering(module) {}

  void run() {
    replace_all(
        [&](const instruction& each) {
          return asks_elsewhere(each) && bits_of(each.type) != 0 && builtin_value(each).has_value();
        },
        [&](const instruction& each) { answer(each); });
  }

 private:
  static bool asks_elsewhere(const instruction& each) {
    if (each.operands.size() != 2) return false;
    return each.opcode == spv::OpVectorExtractDynamic ||
           (each.opcode == spv::OpCompositeExtract && each.operands[1] >= dimensions);
  }

  // 0: it is no type of integers.
  uint32_t bits_of(id type) const {
    const instruction* found = index_.definition(type);
    return found != nullptr && found->opcode == spv::OpTypeInt ? found->operands[0] : 0;
  }

  // Of the built-in variable from which the vector is; nullopt where it is from none.
  std::optional<uint32_t> builtin_value(const instruction& extract) const {
    const instruction* vector = index_.definition(extract.operands[0]);
    if (vector == nullptr || vector->opcode != spv::OpLoad) return std::nullopt;
    const instruction* type = index_.definition(vector->type);
    if (type == nullptr || type->opcode != spv::OpTypeVector || type->operands[0] != extract.type ||
        type->operands[1] != dimensions) {
      return std::nullopt;
    }
    const decoration* builtin = index_.find_decoration(vector->operands[0], spv::DecorationBuiltIn);
    if (builtin == nullptr || builtin->literals.empty()) return std::nullopt;
    return value_elsewhere(static_cast<spv::BuiltIn>(builtin->literals[0]));
  }

  void answer(const instruction& each) {
    const id elsewhere = scope_.integer_constant(bits_of(each.type), *builtin_value(each));
    if (each.opcode == spv::OpCompositeExtract) {
      add(make_instruction(spv::OpCopyObject, each.type, each.result, {elsewhere}));
      return;
    }
    const id vector = each.operands[0], dimension = each.operands[1];
    const id number = type_of(dimension);
    const uint32_t bits = bits_of(number);
    if (bits == 0) {  // the validator will say so
      add(each);
      return;
    }
    const id is_there = emit(spv::OpULessThan, scope_.type(spv::OpTypeBool, {}),
                             {dimension, scope_.integer_constant(bits, dimensions)});
    const id place =
        emit(spv::OpSelect, number, {is_there, dimension, scope_.integer_constant(bits, 0)});
    const id value = emit(spv::OpVectorExtractDynamic, each.type, {vector, place});
    add(make_instruction(spv::OpSelect, each.type, each.result, {is_there, value, elsewhere}));
  }
};

}  // namespace

void answer_for_all_dimensions(binary& module) {
  dimension_lowering(module).run();
}

}  // namespace zevent::driver::spirv
