#pragma once

#include <cstdint>

namespace zevent::driver {

// Floating-point numbers with 5 bits of exponent and less than 23 of mantissa: 10 in half
// precision, 6 and 5 in the layout 11_11_10. Only bits are handled, so that no mode of the
// processor matters.

// The bits of the 32-bit number that has the same value. Without sign.
uint32_t widen_small_float(uint32_t bits, unsigned mantissa_bits);

// The nearest number, to even where two are; infinite where it is too large. Without sign: that of
// the 32-bit number is not looked at.
uint32_t narrow_to_small_float(uint32_t float_bits, unsigned mantissa_bits);

}  // namespace zevent::driver
