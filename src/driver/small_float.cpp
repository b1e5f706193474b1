#include "driver/small_float.hpp"

#include <algorithm>
#include <bit>

namespace zevent::driver {
namespace {

constexpr unsigned wide_mantissa_bits = 23;
constexpr uint32_t wide_mantissa = (uint32_t{1} << wide_mantissa_bits) - 1;
constexpr uint32_t wide_special = 255;  // exponent of what is infinite or not a number
constexpr uint32_t small_special = 31;
constexpr int bias_difference = 127 - 15;

uint32_t shift_to_nearest_even(uint32_t value, unsigned shift) {
  if (shift > 31) return 0;
  const uint32_t kept = value >> shift;
  const uint32_t rest = value & ((uint32_t{1} << shift) - 1);
  const uint32_t half = uint32_t{1} << (shift - 1);
  return kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0);
}

}  // namespace

uint32_t widen_small_float(uint32_t bits, unsigned mantissa_bits) {
  const unsigned shift = wide_mantissa_bits - mantissa_bits;
  const uint32_t exponent = bits >> mantissa_bits;
  uint32_t mantissa = bits & ((uint32_t{1} << mantissa_bits) - 1);
  if (exponent == small_special) return wide_special << wide_mantissa_bits | mantissa << shift;
  if (exponent != 0) {
    return (exponent + bias_difference) << wide_mantissa_bits | mantissa << shift;
  }
  if (mantissa == 0) return 0;
  // Normal among the wider numbers.
  const auto up = static_cast<uint32_t>(std::countl_zero(mantissa)) - (31 - mantissa_bits);
  mantissa = mantissa << up & ((uint32_t{1} << mantissa_bits) - 1);
  return (bias_difference + 1 - up) << wide_mantissa_bits | mantissa << shift;
}

uint32_t narrow_to_small_float(uint32_t float_bits, unsigned mantissa_bits) {
  const unsigned shift = wide_mantissa_bits - mantissa_bits;
  const uint32_t infinite = small_special << mantissa_bits;
  const uint32_t wide_exponent = float_bits >> wide_mantissa_bits & 255;
  const uint32_t mantissa = float_bits & wide_mantissa;
  if (wide_exponent == wide_special) {
    if (mantissa == 0) return infinite;
    const uint32_t kept = mantissa >> shift;
    return infinite | (kept != 0 ? kept : uint32_t{1} << (mantissa_bits - 1));
  }
  const int exponent = static_cast<int>(wide_exponent) - bias_difference;
  if (exponent >= static_cast<int>(small_special)) return infinite;
  if (exponent > 0) {
    // Rounding up may carry into the exponent, up to infinity, as it should.
    return shift_to_nearest_even(static_cast<uint32_t>(exponent) << wide_mantissa_bits | mantissa,
                                 shift);
  }
  if (wide_exponent == 0) return 0;
  return shift_to_nearest_even(mantissa | (wide_mantissa + 1),
                               shift + static_cast<unsigned>(1 - exponent));
}

}  // namespace zevent::driver
