#pragma once

#include <bit>
#include <cstdint>

namespace zevent::driver {

// Half-precision numbers, by their bits.

inline float half_to_float(uint16_t half) {
  const uint32_t sign = uint32_t{half & 0x8000u} << 16;
  const uint32_t rest = half & 0x7fffu;
  if (rest >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000 | (rest & 0x3ff) << 13);
  // A float with the half's exponent and fraction, which is too small by the difference of biases.
  const float scaled = std::bit_cast<float>(rest << 13) * 0x1p+112f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(scaled));
}

// Rounds to nearest, ties to even.
inline uint16_t float_to_half(float number) {
  const uint32_t bits = std::bit_cast<uint32_t>(number);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const uint32_t rest = bits & 0x7fffffff;
  if (rest > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);
  if (rest >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);
  if (rest < 0x38800000) {
    // Too small for a normal half: adding brings the bits that count to the end of the sum.
    const float shifted = std::bit_cast<float>(rest) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000));
  }
  const uint32_t rounded = rest + 0xfff + (rest >> 13 & 1);
  return static_cast<uint16_t>(sign | (rounded - 0x38000000) >> 13);
}

}  // namespace zevent::driver
