#include "driver/spirv_float_functions.hpp"

#include <spirv/unified1/OpenCL.std.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <map>
#include <numbers>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "driver/spirv_expression.hpp"
#include "driver/spirv_rewrite.hpp"

namespace zevent::driver::spirv {
namespace {

using std::numbers::ln10;
using std::numbers::ln2;
using std::numbers::pi;

// The polynomials have the least greatest relative error in the ranges that are named: 2^-30 or
// less, where a number of single precision is rounded by 2^-25. z is the square of the argument.

// sin x = x (1 + z P(z)) and cos x = 1 + z P(z), where |x| <= pi/4.
constexpr std::array sine_terms = {-0.16666666641606293, 0.0083333293834914352,
                                   -0.00019839334054090203, 2.7183039656723743e-6};
constexpr std::array cosine_terms = {-0.49999999694230075, 0.041666620329070473,
                                     -0.0013886680757765434, 2.4383483310527665e-5};
// asin x = x (1 + z P(z)), where |x| <= 1/2.
constexpr std::array arc_sine_terms = {0.16666659853197389,  0.075005121279819308,
                                       0.044515470739069631, 0.031819827363034096,
                                       0.014393762219357711, 0.037578229119571626};
// atan x = x (1 + z P(z)), where |x| <= tan(pi/8).
constexpr std::array arc_tangent_terms = {-0.33333315496998553, 0.19998488884771137,
                                          -0.14243837527561442, 0.10595913476717893,
                                          -0.060832182805096447};
// exp x = 1 + x + z P(x), where |x| <= ln(2)/2.
constexpr std::array exponential_terms = {0.50000000676792628,   0.16666665868938874,
                                          0.041666294952216151,  0.0083334970625785316,
                                          0.0013944659433536439, 0.00019790351684290953};
// log((1 + x) / (1 - x)) = x (2 + z P(z)), where |x| <= (sqrt(2) - 1) / (sqrt(2) + 1).
constexpr std::array logarithm_terms = {0.66666776416750318, 0.39977536779794601,
                                        0.29871867441153291};

constexpr uint32_t single_sign_bit = 0x8000'0000;
constexpr uint32_t infinity_bits = 0x7f80'0000;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

// Numbers without a sign are in the order of their bits.
constexpr uint32_t bits_of(float number) {
  return std::bit_cast<uint32_t>(number);
}

value magnitude_bits(value x) {
  return as(kind::word, x) & (single_sign_bit - 1);
}
value magnitude(value x) {
  return to_real(x.writer->call(OpenCLLIB::Fabs, {x}));
}
value sign(value x) {
  return as(kind::word, x) & single_sign_bit;
}
value with_sign(value sign, value single) {
  return as(kind::single, as(kind::word, single) ^ sign);
}

value word_like(value other, uint64_t bits) {
  return other.writer->word_constant(other.is, bits);
}

// x (1 + z P(z))
value odd_function(value x, value z, std::span<const double> terms) {
  return x * mad(z, polynomial(z, terms), 1.0);
}

// The nearest whole number, never -0, of a real number that is less than 2^31. Next to the constant
// there is room for no fraction, and the number itself is in the last bits.
struct whole_number {
  value number;
  value word;
};

whole_number nearest(value x) {
  constexpr double no_fraction = 0x1.8p52;
  const value shifted = x + no_fraction;
  return {shifted - no_fraction, low_word(as(kind::wide_word, shifted))};
}

// An angle is so many quarters of the circle, of which the last two bits matter, and a rest between
// -pi/4 and pi/4.
using quarters_and_rest = function_writer::two_values;

// For less than 2^20; what is lost is less than 2^-60. The upper part of pi/2 has 33 bits, so that
// the product has no more than 53.
constexpr float end_of_small_angles = 0x1p20F;

quarters_and_rest place_small(value x) {
  constexpr double half_pi_high = 0x1.921fb544p0, half_pi_low = 6.077100506506192e-11;
  const value angle = to_real(x);
  const whole_number quarters = nearest(angle * (2 / pi));
  const value rest = mad(quarters.number, -half_pi_high, angle);
  return {quarters.word, mad(quarters.number, -half_pi_low, rest)};
}

// For 2^20 and more: the 24 bits of the number times the 96 bits of 1 / (2 pi) that are left when
// those are skipped, by the number's exponent, that make only whole circles of it. The product is a
// part of a circle of 2^64.
quarters_and_rest place_large(value x) {
  // 1 / (16 pi), behind the point: what is skipped of it is never less than nothing.
  constexpr std::array<uint32_t, 7> inverse = {0x0517cc1b, 0x727220a9, 0x4fe13abe, 0x8fa9a6ee,
                                               0x06db14ac, 0xc9e21c82, 0x0ff28b1d};
  constexpr uint32_t fraction_mask = 0x7f'ffff, fraction_size = 23, first_exponent = 147;
  const value bits = magnitude_bits(x);
  const value skipped = (bits >> fraction_size) - uint64_t{first_exponent};
  // The four words that the 96 bits are in.
  const value is_odd_word = is_equal(skipped & 32, 32), is_late_word = is_equal(skipped & 64, 64);
  std::array<value, 5> by_two;
  for (size_t i = 0; i < by_two.size(); ++i) {
    by_two[i] = select(is_late_word, x.writer->word_constant(kind::wide_word, inverse[i + 2]),
                       x.writer->word_constant(kind::wide_word, inverse[i]));
  }
  std::array<value, 4> words;
  for (size_t i = 0; i < words.size(); ++i) {
    words[i] = select(is_odd_word, by_two[i + 1], by_two[i]);
  }
  const value shift = widen(skipped & 31);
  const value fraction = widen((bits & fraction_mask) | word_like(bits, fraction_mask + 1));
  const auto product = [&](size_t i) {
    const value window = ((words[i] << 32) | words[i + 1]) << shift;
    return fraction * (window >> 32);
  };
  const value circle = (product(0) << 32) + product(1) + (product(2) >> 32);
  const value is_negative = is_equal(sign(x), single_sign_bit);
  const value turned = select(is_negative, word_like(circle, 0) - circle, circle);
  constexpr uint64_t quarter_bits = 62;
  const value quarters = (turned + (uint64_t{1} << (quarter_bits - 1))) >> quarter_bits;
  const value rest = to_real(turned - (quarters << quarter_bits)) * (pi / 2 * 0x1p-62);
  return {low_word(quarters), select(bits < infinity_bits, rest, no_number)};
}

quarters_and_rest place(value x) {
  return x.writer->either(
      magnitude_bits(x) < bits_of(end_of_small_angles), [&] { return place_small(x); },
      [&] { return place_large(x); });
}

// x (1 + z P(z)) or 1 + z P(z), negated in two of the quarters.
value sine(value x, uint64_t quarters_ahead) {
  const auto [place_quarters, rest] = place(x);
  const value quarters = place_quarters + quarters_ahead;
  const value is_even = is_equal(quarters & 1, 0);
  const value z = rest * rest;
  const value terms = select(is_even, polynomial(z, sine_terms), polynomial(z, cosine_terms));
  const value factor = as(kind::wide_word, select(is_even, rest, 1.0));
  const value signed_factor = as(kind::real, factor ^ (widen(quarters & 2) << 62));
  return round_to_single(signed_factor * mad(z, terms, 1.0));
}

value tangent(value x) {
  const auto [quarters, rest] = place(x);
  const value is_even = is_equal(quarters & 1, 0);
  const value z = rest * rest;
  const value sine = odd_function(rest, z, sine_terms);
  const value cosine = mad(z, polynomial(z, cosine_terms), 1.0);
  return round_to_single(select(is_even, sine, cosine) / select(is_even, cosine, 0.0 - sine));
}

// asin |x|, for up to 1/2; beyond that half of acos |x|, which is asin sqrt((1 - |x|) / 2). Where x
// is more than 1 this is the root of a negative number, which is none.
struct arc {
  value is_small;
  value length;
};

arc arc_of(value x) {
  const value size = magnitude(x);
  const value is_small = magnitude_bits(x) < bits_of(0.5F) + 1;
  const value z = select(is_small, size * size, 0.5 - size * 0.5);
  const value root = select(is_small, size, x.writer->call(OpenCLLIB::Sqrt, {z}));
  return {is_small, odd_function(root, z, arc_sine_terms)};
}

value arc_sine(value x) {
  const arc part = arc_of(x);
  const value result = select(part.is_small, part.length, mad(part.length, -2.0, pi / 2));
  return with_sign(sign(x), round_to_single(result));
}

value arc_cosine(value x) {
  const arc part = arc_of(x);
  const value is_positive = is_equal(sign(x), 0);
  const value length = select(is_positive, part.length, 0.0 - part.length);
  const value start = select(is_positive, 0.0, x.writer->constant(kind::real, pi));
  const value result = select(part.is_small, pi / 2 - length, mad(length, 2.0, start));
  return round_to_single(result);
}

// Near 0, pi/4 and pi/2, whichever is nearest: what is missing is the arc of x, (x - 1) / (x + 1)
// or -1 / x, which are at most tan(pi/8).
value arc_tangent(value x) {
  const value size = magnitude(x), bits = magnitude_bits(x);
  constexpr float tan_of_pi_8th = 0.414213562F, tan_of_3_pi_8th = 2.414213562F;
  const value is_first = bits < bits_of(tan_of_pi_8th), is_middle = bits < bits_of(tan_of_3_pi_8th);
  const value above = select(is_first, size, select(is_middle, size - 1.0, -1.0));
  const value below = select(is_first, 1.0, select(is_middle, size + 1.0, size));
  const value start =
      select(is_first, 0.0, select(is_middle, pi / 4, x.writer->constant(kind::real, pi / 2)));
  const value part = above / below;
  const value result = start + odd_function(part, part * part, arc_tangent_terms);
  return with_sign(sign(x), round_to_single(result));
}

constexpr uint64_t fraction_bits = 52;  // of a real number
constexpr uint64_t exponent_of_one = 1023;

// base^x. What is too large or too small for a number of single precision is so here too.
value exponential(value x, double log_of_base, double log2_of_base) {
  const double limit = 160 / log2_of_base;
  value power = to_real(x);
  power = select(is_less(power, -limit), -limit, power);
  power = select(is_greater(power, limit), limit, power);
  const whole_number twos = nearest(power * log2_of_base);
  // The rest is exact where the base is two.
  const value rest =
      log2_of_base == 1 ? (power - twos.number) * ln2 : mad(twos.number, -ln2, power * log_of_base);
  const value result = mad(rest * rest, polynomial(rest, exponential_terms), rest + 1.0);
  const value scale = widen(twos.word + exponent_of_one) << fraction_bits;
  return round_to_single(result * as(kind::real, scale));
}

// Takes a number apart into a power of two and something from sqrt(1/2) to sqrt(2). No number of
// single precision is too small to have a real one's exponent.
value logarithm(value x, double log_of_base) {
  constexpr auto least = std::bit_cast<uint64_t>(1 / std::numbers::sqrt2);
  constexpr uint64_t exponent_mask = ~uint64_t{0} << fraction_bits;
  const value real_bits = as(kind::wide_word, to_real(x));
  const value above = real_bits - least;
  const value power = to_real(exponent_of(above));
  const value part = as(kind::real, real_bits - (above & exponent_mask));
  const value ratio = (part - 1.0) / (part + 1.0);
  const value z = ratio * ratio;
  const value part_log = ratio * mad(z, polynomial(z, logarithm_terms), 2.0);
  const value result = round_to_single(mad(power, ln2 / log_of_base, part_log * (1 / log_of_base)));
  const value bits = as(kind::word, x);
  const value is_usual = bits - uint64_t{1} < infinity_bits - 1;
  const value is_zero = is_equal(real_bits << 1, 0);  // also what a program takes for zero
  const value is_infinity = is_equal(bits, infinity_bits);
  const value other = select(is_infinity, infinity, x.writer->constant(kind::single, no_number));
  return select(is_zero, -infinity, select(is_usual, result, other));
}

value compute(uint32_t function, value x) {
  switch (function) {
    case OpenCLLIB::Sin:
      return sine(x, 0);
    case OpenCLLIB::Cos:
      return sine(x, 1);
    case OpenCLLIB::Tan:
      return tangent(x);
    case OpenCLLIB::Asin:
      return arc_sine(x);
    case OpenCLLIB::Acos:
      return arc_cosine(x);
    case OpenCLLIB::Atan:
      return arc_tangent(x);
    case OpenCLLIB::Exp:
      return exponential(x, 1, std::numbers::log2e);
    case OpenCLLIB::Exp2:
      return exponential(x, ln2, 1);
    case OpenCLLIB::Exp10:
      return exponential(x, ln10, ln10 / ln2);
    case OpenCLLIB::Log:
      return logarithm(x, 1);
    case OpenCLLIB::Log2:
      return logarithm(x, ln2);
    default:
      return logarithm(x, ln10);
  }
}

// The function that is computed for one of the set; nullopt: it stays.
std::optional<uint32_t> computed_function(uint32_t function) {
  switch (function) {
    case OpenCLLIB::Asin:
    case OpenCLLIB::Acos:
    case OpenCLLIB::Atan:
      return function;
    case OpenCLLIB::Sin:
    case OpenCLLIB::Native_sin:
      return OpenCLLIB::Sin;
    case OpenCLLIB::Cos:
    case OpenCLLIB::Native_cos:
      return OpenCLLIB::Cos;
    case OpenCLLIB::Tan:
    case OpenCLLIB::Native_tan:
      return OpenCLLIB::Tan;
    case OpenCLLIB::Exp:
    case OpenCLLIB::Native_exp:
      return OpenCLLIB::Exp;
    case OpenCLLIB::Exp2:
    case OpenCLLIB::Native_exp2:
      return OpenCLLIB::Exp2;
    case OpenCLLIB::Exp10:
    case OpenCLLIB::Native_exp10:
      return OpenCLLIB::Exp10;
    case OpenCLLIB::Log:
    case OpenCLLIB::Native_log:
      return OpenCLLIB::Log;
    case OpenCLLIB::Log2:
    case OpenCLLIB::Native_log2:
      return OpenCLLIB::Log2;
    case OpenCLLIB::Log10:
    case OpenCLLIB::Native_log10:
      return OpenCLLIB::Log10;
    default:
      return std::nullopt;
  }
}

class float_functions : instruction_lowering {
 public:
  explicit float_functions(binary& module) : instruction_lowering(module) {}

  void run() {
    replace_all(
        [&](const instruction& each) {
          return each.is_opencl_function() && computed_function(each.operands[1]) &&
                 is_float(each.type, 32);
        },
        [&](const instruction& each) { replace(each); });
    if (functions_.empty()) return;
    std::move(bodies_.begin(), bodies_.end(), std::back_inserter(module_.instructions));
    add_capability(spv::CapabilityFloat64);
  }

 private:
  void replace(const instruction& call) {
    const id function = function_for(call);
    const id argument = call.operands[2];
    const instruction& type = *index_.definition(call.type);
    if (type.opcode != spv::OpTypeVector) {
      add(make_instruction(spv::OpFunctionCall, call.type, call.result, {function, argument}));
      return;
    }
    const id number = type.operands[0];
    std::vector<uint32_t> parts;
    for (uint32_t i = 0; i < type.operands[1]; ++i) {
      const id part = emit_component(number, argument, i);
      parts.push_back(emit(spv::OpFunctionCall, number, {function, part}));
    }
    add(make_instruction(spv::OpCompositeConstruct, call.type, call.result, std::move(parts)));
  }

  id function_for(const instruction& call) {
    const uint32_t function = *computed_function(call.operands[1]);
    const auto [known, is_new] = functions_.try_emplace(function, 0);
    if (!is_new) return known->second;
    function_writer writer(module_, scope_, call);
    const value x = writer.begin();
    writer.give(compute(function, x));
    return known->second = writer.finish(bodies_);
  }

  void add_capability(spv::Capability wanted) {
    auto& all = module_.instructions;
    const bool is_there = std::any_of(all.begin(), all.end(), [&](const instruction& each) {
      return each.opcode == spv::OpCapability && each.operands[0] == wanted;
    });
    if (is_there) return;
    all.insert(all.begin(), make_literal_instruction(spv::OpCapability, 0, 0, {wanted}));
  }

  std::map<uint32_t, id> functions_;  // by the function that each stands for
  std::vector<instruction> bodies_;
};

}  // namespace

void lower_float_functions(binary& module) {
  float_functions(module).run();
}

}  // namespace zevent::driver::spirv
