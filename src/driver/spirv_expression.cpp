#include "driver/spirv_expression.hpp"

#include <spirv/unified1/OpenCL.std.h>

#include <bit>

namespace zevent::driver::spirv {
namespace {

bool is_number(kind each) {
  return each == kind::single || each == kind::real;
}

value both(spv::Op of_numbers, spv::Op of_words, value a, value b) {
  return a.writer->write(is_number(a.is) ? of_numbers : of_words, a.is, {a.number, b.number});
}

value like(value other, double number) {
  return other.writer->constant(other.is, number);
}

value like(value other, uint64_t bits) {
  return other.writer->word_constant(other.is, bits);
}

// Whether the processor, for which kernels are compiled, has it as an instruction.
bool has_fma() {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_cpu_supports("fma") != 0;
#else
  return true;
#endif
}

}  // namespace

value function_writer::begin() {
  function_ = module_.new_id();
  const id number = type_of(kind::single);
  instruction head = make_literal_instruction(
      spv::OpFunction, number, function_,
      {spv::FunctionControlInlineMask, scope_.type(spv::OpTypeFunction, {number, number})});
  head.id_operands = {1};
  written_.push_back(std::move(head));
  const value argument = write(spv::OpFunctionParameter, kind::single, {});
  begin_block(module_.new_id());
  return argument;
}

void function_writer::give(value result) {
  add(spv::OpReturnValue, {result.number});
}

id function_writer::finish(std::vector<instruction>& out) {
  add(spv::OpFunctionEnd, {});
  out.insert(out.end(), written_.begin(), written_.end());
  return function_;
}

value function_writer::write(spv::Op opcode, kind made, std::vector<uint32_t> operands) {
  const id number = module_.new_id();
  written_.push_back(make_instruction(opcode, type_of(made), number, std::move(operands)));
  return {this, number, made};
}

value function_writer::call(uint32_t set_function, const std::vector<value>& arguments) {
  instruction made = call_;
  made.type = type_of(arguments[0].is);
  made.result = module_.new_id();
  made.operands = {call_.operands[0], set_function};
  made.id_operands = {0};
  for (const value& each : arguments) {
    made.id_operands.push_back(static_cast<uint16_t>(made.operands.size()));
    made.operands.push_back(each.number);
  }
  written_.push_back(made);
  return {this, made.result, arguments[0].is};
}

value function_writer::constant(kind wanted, double number) {
  std::vector<uint32_t> words;
  if (wanted == kind::single) {
    words = {std::bit_cast<uint32_t>(static_cast<float>(number))};
  } else {
    const auto bits = std::bit_cast<uint64_t>(number);
    words = {static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32)};
  }
  return {this, scope_.constant(spv::OpConstant, type_of(wanted), words, false), wanted};
}

value function_writer::word_constant(kind wanted, uint64_t bits) {
  return {this, scope_.integer_constant(wanted == kind::word ? 32 : 64, bits), wanted};
}

id function_writer::type_of(kind wanted) {
  switch (wanted) {
    case kind::truth:
      return scope_.type(spv::OpTypeBool, {});
    case kind::word:
      return scope_.integer_type(32);
    case kind::wide_word:
      return scope_.integer_type(64);
    case kind::single:
      return scope_.float_type(32);
    case kind::real:
      break;
  }
  return scope_.float_type(64);
}

void function_writer::add(spv::Op opcode, std::vector<uint32_t> operands) {
  written_.push_back(make_instruction(opcode, 0, 0, std::move(operands)));
}

void function_writer::begin_block(id label) {
  written_.push_back(make_instruction(spv::OpLabel, 0, label, {}));
}

void function_writer::branch(value condition, id usual, id rare) {
  constexpr uint32_t usual_weight = 1000, rare_weight = 1;
  instruction made = make_literal_instruction(
      spv::OpBranchConditional, 0, 0, {condition.number, usual, rare, usual_weight, rare_weight});
  made.id_operands = {0, 1, 2};
  written_.push_back(std::move(made));
}

value operator+(value a, value b) {
  return both(spv::OpFAdd, spv::OpIAdd, a, b);
}
value operator-(value a, value b) {
  return both(spv::OpFSub, spv::OpISub, a, b);
}
value operator*(value a, value b) {
  return both(spv::OpFMul, spv::OpIMul, a, b);
}
value operator/(value a, value b) {
  return both(spv::OpFDiv, spv::OpUDiv, a, b);
}
value mad(value a, value b, value c) {
  return has_fma() ? a.writer->call(OpenCLLIB::Fma, {a, b, c}) : a * b + c;
}
value operator+(value a, double b) {
  return a + like(a, b);
}
value operator-(value a, double b) {
  return a - like(a, b);
}
value operator-(double a, value b) {
  return like(b, a) - b;
}
value operator*(value a, double b) {
  return a * like(a, b);
}
value mad(value a, value b, double c) {
  return mad(a, b, like(a, c));
}
value mad(value a, double b, value c) {
  return mad(a, like(a, b), c);
}
value mad(value a, double b, double c) {
  return mad(a, like(a, b), like(a, c));
}

value operator+(value a, uint64_t b) {
  return a + like(a, b);
}
value operator-(value a, uint64_t b) {
  return a - like(a, b);
}
value operator&(value a, uint64_t b) {
  return a.writer->write(spv::OpBitwiseAnd, a.is, {a.number, like(a, b).number});
}
value operator|(value a, value b) {
  return a.writer->write(spv::OpBitwiseOr, a.is, {a.number, b.number});
}
value operator^(value a, value b) {
  return a.writer->write(spv::OpBitwiseXor, a.is, {a.number, b.number});
}
value operator<<(value a, uint64_t bits) {
  return a << like(a, bits);
}
value operator<<(value a, value bits) {
  return a.writer->write(spv::OpShiftLeftLogical, a.is, {a.number, bits.number});
}
value operator>>(value a, uint64_t bits) {
  return a.writer->write(spv::OpShiftRightLogical, a.is, {a.number, like(a, bits).number});
}
value is_equal(value a, uint64_t b) {
  return a.writer->write(spv::OpIEqual, kind::truth, {a.number, like(a, b).number});
}
value operator<(value a, uint64_t b) {
  return a.writer->write(spv::OpULessThan, kind::truth, {a.number, like(a, b).number});
}

value is_less(value a, double b) {
  return a.writer->write(spv::OpFOrdLessThan, kind::truth, {a.number, like(a, b).number});
}
value is_greater(value a, double b) {
  return a.writer->write(spv::OpFOrdGreaterThan, kind::truth, {a.number, like(a, b).number});
}

value select(value condition, value a, value b) {
  return a.writer->write(spv::OpSelect, a.is, {condition.number, a.number, b.number});
}
value select(value condition, double a, value b) {
  return select(condition, like(b, a), b);
}
value select(value condition, value a, double b) {
  return select(condition, a, like(a, b));
}

value as(kind wanted, value bits) {
  return bits.writer->write(spv::OpBitcast, wanted, {bits.number});
}
value round_to_single(value real) {
  return real.writer->write(spv::OpFConvert, kind::single, {real.number});
}
value to_real(value number) {
  const spv::Op convert = is_number(number.is) ? spv::OpFConvert : spv::OpConvertSToF;
  return number.writer->write(convert, kind::real, {number.number});
}
value low_word(value wide_word) {
  return wide_word.writer->write(spv::OpUConvert, kind::word, {wide_word.number});
}
value widen(value word) {
  return word.writer->write(spv::OpUConvert, kind::wide_word, {word.number});
}
value exponent_of(value wide_word) {
  constexpr uint64_t fraction_bits = 52;
  const value shift = like(wide_word, fraction_bits);
  const value exponent = wide_word.writer->write(spv::OpShiftRightArithmetic, kind::wide_word,
                                                 {wide_word.number, shift.number});
  return low_word(exponent);
}

value polynomial(value x, std::span<const double> coefficients) {
  const size_t count = coefficients.size();
  const auto pair_at = [&](size_t i) {
    const value first = like(x, coefficients[i]);
    return i + 1 < count ? mad(x, coefficients[i + 1], first) : first;
  };
  size_t i = (count - 1) / 2 * 2;
  value sum = pair_at(i);
  const value square = x * x;
  while (i > 0) sum = mad(sum, square, pair_at(i -= 2));
  return sum;
}

}  // namespace zevent::driver::spirv
