#include "driver/spirv_printf.hpp"

#include <spirv/unified1/OpenCL.std.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "driver/spirv_rewrite.hpp"
#include "driver/spirv_types.hpp"

namespace zevent::driver::spirv {
namespace {

constexpr uint32_t word_bits = 32;
constexpr uint32_t register_bits = 64;  // a general one

class printf_lowering : instruction_lowering {
 public:
  explicit printf_lowering(binary& module) : instruction_lowering(module) {}

  void run() {
    replace_all(
        [&](const instruction& each) {
          return each.is_opencl_function() && each.operands[1] == OpenCLLIB::Printf &&
                 std::any_of(each.id_operands.begin(), each.id_operands.end(),
                             [&](uint16_t operand) { return is_passed_otherwise(each, operand); });
        },
        [&](const instruction& each) {
          instruction call = each;
          for (const uint16_t operand : each.id_operands) {
            if (!is_passed_otherwise(each, operand)) continue;
            call.operands[operand] = pass(each.operands[operand]);
          }
          add(std::move(call));
        });
  }

 private:
  struct shape {
    const instruction* component = nullptr;  // null: not a vector of numbers
    uint32_t bits = 0, count = 0;
  };

  shape shape_of(id value) const {
    const instruction* found = index_.definition(value);
    const instruction* vector = found != nullptr ? index_.definition(found->type) : nullptr;
    if (vector == nullptr || vector->opcode != spv::OpTypeVector) return {};
    const instruction* component = index_.definition(vector->operands[0]);
    const bool is_number = component != nullptr && (component->opcode == spv::OpTypeInt ||
                                                    component->opcode == spv::OpTypeFloat);
    if (!is_number) return {};
    return {component, component->operands[0], vector->operands[1]};
  }

  static uint32_t room_bits(const shape& vector) {
    return vector.bits * (vector.count == 3 ? 4 : vector.count);
  }

  static bool is_half(const shape& vector) {
    return vector.component->opcode == spv::OpTypeFloat && vector.bits == 16;
  }

  bool is_passed_otherwise(const instruction& call, uint16_t operand) const {
    const shape found = shape_of(call.operands[operand]);
    if (found.component == nullptr) return false;
    return is_half(found) || room_bits(found) <= word_bits ||
           (found.count == 3 && room_bits(found) <= register_bits);
  }

  id pass(id value) {
    const shape found = shape_of(value);
    if (is_half(found)) {
      return emit(spv::OpFConvert, scope_.vector_type(scope_.float_type(32), found.count), {value});
    }
    const id component = scope_.integer_type(found.bits);
    id passed = value;
    uint32_t count = found.count;
    if (count == 3 && room_bits(found) <= register_bits) {
      instruction padded = make_literal_instruction(
          spv::OpVectorShuffle, scope_.vector_type(component, 4), 0, {passed, passed, 0, 1, 2, 2});
      padded.id_operands = {0, 1};
      passed = emit(std::move(padded));
      count = 4;
    }
    const uint32_t bits = found.bits * count;
    if (bits > word_bits) return passed;
    passed = emit(spv::OpBitcast, scope_.integer_type(bits), {passed});
    return bits == word_bits ? passed
                             : emit(spv::OpUConvert, scope_.integer_type(word_bits), {passed});
  }
};

}  // namespace

void lower_printf(binary& module) {
  printf_lowering(module).run();
}

}  // namespace zevent::driver::spirv
