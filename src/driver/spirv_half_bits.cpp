#include "driver/spirv_half_bits.hpp"

#include <spirv/unified1/OpenCL.std.h>

#include <unordered_set>
#include <utility>
#include <vector>

#include "driver/spirv_rewrite.hpp"
#include "driver/spirv_types.hpp"

namespace zevent::driver::spirv {
namespace {

constexpr uint32_t half_sign_bit = 0x8000;
constexpr uint32_t exponent_bits = 0x7c00;
constexpr uint32_t quiet_nan = 0x7e00;
constexpr uint32_t nan_payload = 0x01ff;

bool moves_numbers(uint32_t function) {
  switch (function) {
    case OpenCLLIB::Vloadn:
    case OpenCLLIB::Vstoren:
    case OpenCLLIB::Shuffle:
    case OpenCLLIB::Shuffle2:
    case OpenCLLIB::Prefetch:
    case OpenCLLIB::Bitselect:
    case OpenCLLIB::Select:
      return true;
    default:
      return false;
  }
}

class half_bits_lowering : instruction_lowering {
 public:
  explicit half_bits_lowering(binary& module) : instruction_lowering(module) {}

  void run() {
    // From halves there is nothing to round.
    for (const instruction& each : module_.instructions) {
      if (each.opcode == spv::OpFConvert && is_half(type_of(each.operands[0]))) {
        rounded_.insert(each.result);
      }
    }
    replace_all(
        [&](const instruction& each) {
          return is_move(each) || is_call(each, OpenCLLIB::Nan) ||
                 is_call(each, OpenCLLIB::Nextafter) || asks_if_normal(each) ||
                 rounding_of(each) != nullptr;
        },
        [&](const instruction& each) {
          if (is_move(each)) {
            move(each);
          } else if (is_call(each, OpenCLLIB::Nan)) {
            make_nan(each);
          } else if (is_call(each, OpenCLLIB::Nextafter)) {
            step(each);
          } else if (const decoration* rounding = rounding_of(each)) {
            round(each, static_cast<spv::FPRoundingMode>(rounding->literals[0]));
          } else {
            test_exponent(each);
          }
        });
    // The translator would make conversions with a mode of what has been done.
    std::erase_if(module_.instructions, [&](const instruction& each) {
      return each.opcode == spv::OpDecorate && rounded_.contains(each.operands[0]) &&
             each.operands[1] == spv::DecorationFPRoundingMode;
    });
  }

 private:
  const instruction* pointer_to_half(id type) const {
    const instruction* found = index_.definition(type);
    const bool is_one = found != nullptr && found->opcode == spv::OpTypePointer &&
                        found->operands.size() > 1 && is_half(found->operands[1]);
    return is_one ? found : nullptr;
  }

  bool is_call(const instruction& each, uint32_t function) const {
    return each.is_opencl_function() && each.operands[1] == function && is_half(each.type);
  }

  bool asks_if_normal(const instruction& each) const {
    return each.opcode == spv::OpIsNormal && is_half(type_of(each.operands[0]));
  }

  bool is_move(const instruction& each) const {
    const bool moves = each.opcode == spv::OpGroupAsyncCopy ||
                       (each.is_opencl_function() && moves_numbers(each.operands[1]));
    if (!moves) return false;
    bool has_half = is_half(each.type);
    each.for_each_id([&](id used) {
      const id type = type_of(used);
      has_half = has_half || is_half(type) || pointer_to_half(type) != nullptr;
    });
    return has_half;
  }

  // How a conversion to halves is to be rounded; null: as usual, or it is none.
  const decoration* rounding_of(const instruction& each) const {
    const bool converts = each.opcode == spv::OpFConvert || each.opcode == spv::OpConvertSToF ||
                          each.opcode == spv::OpConvertUToF;
    if (!converts || !is_half(each.type)) return nullptr;
    const decoration* found = index_.find_decoration(each.result, spv::DecorationFPRoundingMode);
    return found != nullptr && !found->literals.empty() ? found : nullptr;
  }

  // The type of as many 16-bit integers.
  id bits_type(id type) {
    const instruction& found = *index_.definition(type);
    const id number = scope_.integer_type(16);
    return found.opcode == spv::OpTypeVector ? scope_.vector_type(number, found.operands[1])
                                             : number;
  }

  id truth_type(id type) {
    const instruction& found = *index_.definition(type);
    const id single = scope_.type(spv::OpTypeBool, {});
    return found.opcode == spv::OpTypeVector ? scope_.vector_type(single, found.operands[1])
                                             : single;
  }

  // The number in each component of what has the bits of that type.
  id constant(id type, uint32_t value) {
    const instruction& found = *index_.definition(type);
    const id single = scope_.integer_constant(16, value);
    if (found.opcode != spv::OpTypeVector) return single;
    return scope_.constant(spv::OpConstantComposite, bits_type(type),
                           std::vector<uint32_t>(found.operands[1], single), true);
  }

  id bits_of(id value) { return emit(spv::OpBitcast, bits_type(type_of(value)), {value}); }

  void give(const instruction& each, id bits) {
    add(make_instruction(spv::OpBitcast, each.type, each.result, {bits}));
  }

  void move(instruction each) {
    const id type = each.type, result = each.result;
    each.for_each_id([&](id& used) {
      const id own = type_of(used);
      if (is_half(own)) {
        used = bits_of(used);
      } else if (const instruction* pointer = pointer_to_half(own)) {
        const auto storage = static_cast<spv::StorageClass>(pointer->operands[0]);
        const id pointee = bits_type(pointer->operands[1]);
        used = emit(spv::OpBitcast, scope_.pointer_type(storage, pointee), {used});
      }
    });
    if (!is_half(type)) {
      add(std::move(each));
      return;
    }
    each.type = bits_type(type);
    each.result = module_.new_id();
    const id bits = each.result;
    add(std::move(each));
    add(make_instruction(spv::OpBitcast, type, result, {bits}));
  }

  void make_nan(const instruction& each) {
    const id bits = bits_type(each.type);
    const id payload =
        emit(spv::OpBitwiseAnd, bits, {each.operands[2], constant(each.type, nan_payload)});
    give(each, emit(spv::OpBitwiseOr, bits, {payload, constant(each.type, quiet_nan)}));
  }

  // The next half from one towards another. The bits of a half without its sign are in the order of
  // the numbers.
  void step(const instruction& each) {
    const id type = each.type, bits = bits_type(type), truth = truth_type(type);
    const id from = each.operands[2], to = each.operands[3];
    const id from_bits = bits_of(from), to_bits = bits_of(to);
    const auto bit_and = [&](id value, uint32_t mask) {
      return emit(spv::OpBitwiseAnd, bits, {value, constant(type, mask)});
    };
    const id zero = constant(type, 0), one = constant(type, 1);
    const id is_zero = emit(spv::OpIEqual, truth, {bit_and(from_bits, half_sign_bit - 1), zero});
    const id least = emit(spv::OpBitwiseOr, bits, {bit_and(to_bits, half_sign_bit), one});
    const id is_negative = emit(spv::OpINotEqual, truth, {bit_and(from_bits, half_sign_bit), zero});
    const id goes_up = emit(spv::OpFOrdLessThan, truth, {from, to});
    const id gets_smaller = emit(spv::OpLogicalEqual, truth, {goes_up, is_negative});
    const id greater = emit(spv::OpIAdd, bits, {from_bits, one});
    const id smaller = emit(spv::OpISub, bits, {from_bits, one});
    const id stepped = emit(spv::OpSelect, bits, {gets_smaller, smaller, greater});
    const id moved = emit(spv::OpSelect, bits, {is_zero, least, stepped});
    const id is_there = emit(spv::OpFOrdEqual, truth, {from, to});
    const id ordered = emit(spv::OpSelect, bits, {is_there, to_bits, moved});
    const id from_is_nan = emit(spv::OpFUnordNotEqual, truth, {from, from});
    const id to_is_nan = emit(spv::OpFUnordNotEqual, truth, {to, to});
    const id with_from = emit(spv::OpSelect, bits, {from_is_nan, from_bits, ordered});
    give(each, emit(spv::OpSelect, bits, {to_is_nan, to_bits, with_from}));
  }

  // To the nearest half, and from there to the next one on the other side of the number where the
  // nearest is on the wrong one.
  void round(const instruction& each, spv::FPRoundingMode mode) {
    const id type = each.type, bits = bits_type(type), truth = truth_type(type);
    rounded_.insert(each.result);
    id number = each.operands[0];
    id wide = type_of(number);
    if (each.opcode != spv::OpFConvert) {
      // Integers of more bits than a float has are too large for a half anyway.
      const instruction& found = *index_.definition(type);
      wide = scope_.float_type(32);
      if (found.opcode == spv::OpTypeVector) wide = scope_.vector_type(wide, found.operands[1]);
      number = emit(each.opcode, wide, {number});
    }
    const id nearest = emit(spv::OpFConvert, type, {number});
    const id nearest_bits = emit(spv::OpBitcast, bits, {nearest});
    if (mode == spv::FPRoundingModeRTE) {
      give(each, nearest_bits);
      return;
    }
    const id back = emit(spv::OpFConvert, wide, {nearest});
    const id is_less = emit(spv::OpFOrdLessThan, truth, {back, number});
    const id is_greater = emit(spv::OpFOrdGreaterThan, truth, {back, number});
    const id sign = emit(spv::OpBitwiseAnd, bits, {nearest_bits, constant(type, half_sign_bit)});
    const id is_negative = emit(spv::OpINotEqual, truth, {sign, constant(type, 0)});
    const id away = constant(type, 1), towards_zero = constant(type, 0xffff);
    id is_wrong = 0, step = towards_zero;
    if (mode == spv::FPRoundingModeRTP) {
      is_wrong = is_less;
      step = emit(spv::OpSelect, bits, {is_negative, towards_zero, away});
    } else if (mode == spv::FPRoundingModeRTN) {
      is_wrong = is_greater;
      step = emit(spv::OpSelect, bits, {is_negative, away, towards_zero});
    } else {
      const id less_far = emit(spv::OpLogicalAnd, truth, {is_negative, is_less});
      const id is_positive = emit(spv::OpLogicalNot, truth, {is_negative});
      is_wrong = emit(spv::OpLogicalOr, truth,
                      {less_far, emit(spv::OpLogicalAnd, truth, {is_positive, is_greater})});
    }
    const id taken = emit(spv::OpSelect, bits, {is_wrong, step, constant(type, 0)});
    give(each, emit(spv::OpIAdd, bits, {nearest_bits, taken}));
  }

  void test_exponent(const instruction& each) {
    const id type = type_of(each.operands[0]), truth = truth_type(type);
    const id mask = constant(type, exponent_bits);
    const id exponent = emit(spv::OpBitwiseAnd, bits_type(type), {bits_of(each.operands[0]), mask});
    const id is_large = emit(spv::OpINotEqual, truth, {exponent, constant(type, 0)});
    const id is_finite = emit(spv::OpINotEqual, truth, {exponent, mask});
    add(make_instruction(spv::OpLogicalAnd, each.type, each.result, {is_large, is_finite}));
  }

  std::unordered_set<id> rounded_;  // results whose rounding mode says nothing any more
};

}  // namespace

void lower_half_bits(binary& module) {
  half_bits_lowering(module).run();
}

}  // namespace zevent::driver::spirv
