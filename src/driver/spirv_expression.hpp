#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "driver/spirv_binary.hpp"
#include "driver/spirv_scope.hpp"

namespace zevent::driver::spirv {

// What a value of an expression is.
enum class kind { truth, word, wide_word, single, real };  // a word has 32 bits, a real 64

class function_writer;

// A value in a function that is being written. Operators on it write instructions.
struct value {
  function_writer* writer = nullptr;
  id number = 0;
  kind is = kind::real;
};

// Writes a function that takes one number of single precision and gives one.
class function_writer {
 public:
  // `call` is any of the OpenCL set's functions in the module.
  function_writer(binary& module, module_scope& scope, const instruction& call)
      : module_(module), scope_(scope), call_(call) {}

  value begin();  // the argument
  void give(value result);
  // The function: its id, and its instructions added to the end of `out`.
  id finish(std::vector<instruction>& out);

  // Two values that are computed in one of two ways; the second is rare.
  using two_values = std::pair<value, value>;
  template <typename Usual, typename Rare>
  two_values either(value is_usual, Usual&& usual, Rare&& rare) {
    const id usual_block = module_.new_id(), rare_block = module_.new_id();
    const id after = module_.new_id();
    branch(is_usual, usual_block, rare_block);
    begin_block(usual_block);
    const two_values a = usual();
    add(spv::OpBranch, {after});
    begin_block(rare_block);
    const two_values b = rare();
    add(spv::OpBranch, {after});
    begin_block(after);
    const auto merged = [&](value from_usual, value from_rare) {
      return write(spv::OpPhi, from_usual.is,
                   {from_usual.number, usual_block, from_rare.number, rare_block});
    };
    const value first = merged(a.first, b.first);
    return {first, merged(a.second, b.second)};
  }

  value write(spv::Op opcode, kind made, std::vector<uint32_t> operands);
  value call(uint32_t set_function, const std::vector<value>& arguments);
  value constant(kind wanted, double number);
  value word_constant(kind wanted, uint64_t bits);

 private:
  id type_of(kind wanted);
  void add(spv::Op opcode, std::vector<uint32_t> operands);
  void begin_block(id label);
  void branch(value condition, id usual, id rare);

  binary& module_;
  module_scope& scope_;
  const instruction& call_;
  id function_ = 0;
  std::vector<instruction> written_;
};

// Of numbers, and of words modulo a power of two.
value operator+(value a, value b);
value operator-(value a, value b);
value operator*(value a, value b);
value operator/(value a, value b);
value mad(value a, value b, value c);  // a * b + c, perhaps rounded but once
value operator+(value a, double b);
value operator-(value a, double b);
value operator-(double a, value b);
value operator*(value a, double b);
value mad(value a, value b, double c);
value mad(value a, double b, value c);
value mad(value a, double b, double c);

// Of words, without signs.
value operator+(value a, uint64_t b);
value operator-(value a, uint64_t b);
value operator&(value a, uint64_t b);
value operator|(value a, value b);
value operator^(value a, value b);
value operator<<(value a, uint64_t bits);
value operator<<(value a, value bits);
value operator>>(value a, uint64_t bits);
value is_equal(value a, uint64_t b);
value operator<(value a, uint64_t b);

// Of numbers; false where one of them is none.
value is_less(value a, double b);
value is_greater(value a, double b);

value select(value condition, value a, value b);
value select(value condition, double a, value b);
value select(value condition, value a, double b);

value as(kind wanted, value bits);  // the same bits
value round_to_single(value real);  // the nearest number
value to_real(value number);        // of a number, or of a word with a sign
value low_word(value wide_word);
value widen(value word);             // without a sign
value exponent_of(value wide_word);  // the bits above a real's fraction, with a sign

// The first coefficient is that of the power 0. Pairs of terms do not wait for one another.
value polynomial(value x, std::span<const double> coefficients);

}  // namespace zevent::driver::spirv
