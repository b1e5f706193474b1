#pragma once

#include <level_zero/ze_api.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

// What images do, the slow and obvious way, in double precision and with nothing of the driver's.
namespace zevent::driver::test {

struct oracle_format {
  ze_image_format_layout_t layout;
  ze_image_format_type_t type;
  size_t pixel_bytes;
  std::vector<std::pair<unsigned, unsigned>> components;  // first bit, bits
};

inline std::vector<oracle_format> all_formats() {
  struct layout {
    ze_image_format_layout_t name;
    size_t bytes;
    std::vector<std::pair<unsigned, unsigned>> components;
    std::vector<ze_image_format_type_t> types;
  };
  const std::vector any = {ZE_IMAGE_FORMAT_TYPE_UINT, ZE_IMAGE_FORMAT_TYPE_SINT,
                           ZE_IMAGE_FORMAT_TYPE_UNORM, ZE_IMAGE_FORMAT_TYPE_SNORM};
  std::vector of_16 = any;
  of_16.push_back(ZE_IMAGE_FORMAT_TYPE_FLOAT);
  const std::vector of_32 = {ZE_IMAGE_FORMAT_TYPE_UINT, ZE_IMAGE_FORMAT_TYPE_SINT,
                             ZE_IMAGE_FORMAT_TYPE_FLOAT};
  const std::vector unorm = {ZE_IMAGE_FORMAT_TYPE_UNORM};
  const std::vector<layout> layouts = {
      {ZE_IMAGE_FORMAT_LAYOUT_8, 1, {{0, 8}}, any},
      {ZE_IMAGE_FORMAT_LAYOUT_16, 2, {{0, 16}}, of_16},
      {ZE_IMAGE_FORMAT_LAYOUT_32, 4, {{0, 32}}, of_32},
      {ZE_IMAGE_FORMAT_LAYOUT_8_8, 2, {{0, 8}, {8, 8}}, any},
      {ZE_IMAGE_FORMAT_LAYOUT_16_16, 4, {{0, 16}, {16, 16}}, of_16},
      {ZE_IMAGE_FORMAT_LAYOUT_32_32, 8, {{0, 32}, {32, 32}}, of_32},
      {ZE_IMAGE_FORMAT_LAYOUT_8_8_8, 3, {{0, 8}, {8, 8}, {16, 8}}, any},
      {ZE_IMAGE_FORMAT_LAYOUT_16_16_16, 6, {{0, 16}, {16, 16}, {32, 16}}, of_16},
      {ZE_IMAGE_FORMAT_LAYOUT_32_32_32, 12, {{0, 32}, {32, 32}, {64, 32}}, of_32},
      {ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, 4, {{0, 8}, {8, 8}, {16, 8}, {24, 8}}, any},
      {ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16, 8, {{0, 16}, {16, 16}, {32, 16}, {48, 16}}, of_16},
      {ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32, 16, {{0, 32}, {32, 32}, {64, 32}, {96, 32}}, of_32},
      {ZE_IMAGE_FORMAT_LAYOUT_10_10_10_2, 4, {{0, 10}, {10, 10}, {20, 10}, {30, 2}}, any},
      {ZE_IMAGE_FORMAT_LAYOUT_11_11_10,
       4,
       {{0, 11}, {11, 11}, {22, 10}},
       {ZE_IMAGE_FORMAT_TYPE_FLOAT}},
      {ZE_IMAGE_FORMAT_LAYOUT_5_6_5, 2, {{11, 5}, {5, 6}, {0, 5}}, unorm},
      {ZE_IMAGE_FORMAT_LAYOUT_5_5_5_1, 2, {{10, 5}, {5, 5}, {0, 5}, {15, 1}}, unorm},
      {ZE_IMAGE_FORMAT_LAYOUT_4_4_4_4, 2, {{8, 4}, {4, 4}, {0, 4}, {12, 4}}, unorm},
  };
  std::vector<oracle_format> all;
  for (const layout& each : layouts) {
    for (const auto type : each.types)
      all.push_back({each.name, type, each.bytes, each.components});
  }
  return all;
}

inline bool is_integer(ze_image_format_type_t type) {
  return type == ZE_IMAGE_FORMAT_TYPE_UINT || type == ZE_IMAGE_FORMAT_TYPE_SINT;
}

inline uint64_t bits_at(const uint8_t* pixel, unsigned first, unsigned count) {
  uint64_t value = 0;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned bit = first + i;
    value |= uint64_t{(pixel[bit / 8] >> (bit % 8)) & 1U} << i;
  }
  return value;
}

inline double power_of_two(int exponent) {
  return std::ldexp(1.0, exponent);
}

// A number with the given bits of mantissa and 5 of exponent.
inline double small_float_value(uint64_t bits, unsigned mantissa_bits, bool has_sign) {
  const double sign = has_sign && (bits >> (mantissa_bits + 5) & 1) != 0 ? -1 : 1;
  const auto exponent = static_cast<int>(bits >> mantissa_bits & 31);
  const double mantissa = static_cast<double>(bits & ((1U << mantissa_bits) - 1)) /
                          power_of_two(static_cast<int>(mantissa_bits));
  if (exponent == 31) {
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * mantissa * power_of_two(-14);
  return sign * (1 + mantissa) * power_of_two(exponent - 15);
}

// The value of a component, as a kernel sees it.
inline double component_value(const oracle_format& format, size_t index, const uint8_t* pixel) {
  const auto [first, count] = format.components[index];
  const uint64_t raw = bits_at(pixel, first, count);
  const double most = power_of_two(static_cast<int>(count)) - 1;
  const double most_signed = power_of_two(static_cast<int>(count) - 1) - 1;
  const double as_signed = static_cast<double>(raw) > most_signed
                               ? static_cast<double>(raw) - most - 1
                               : static_cast<double>(raw);
  switch (format.type) {
    case ZE_IMAGE_FORMAT_TYPE_UINT:
      return static_cast<double>(raw);
    case ZE_IMAGE_FORMAT_TYPE_SINT:
      return as_signed;
    case ZE_IMAGE_FORMAT_TYPE_UNORM:
      return static_cast<double>(raw) / most;
    case ZE_IMAGE_FORMAT_TYPE_SNORM:
      return std::max(as_signed / most_signed, -1.0);
    default:
      break;
  }
  if (count == 32) {
    const auto narrow = static_cast<uint32_t>(raw);
    float number = 0;
    std::memcpy(&number, &narrow, sizeof number);
    return static_cast<double>(number);
  }
  return count == 16 ? small_float_value(raw, 10, true) : small_float_value(raw, count - 5, false);
}

// Red, green, blue, alpha; what the format lacks is 0, and 1 for alpha.
inline std::array<double, 4> pixel_value(const oracle_format& format, const uint8_t* pixel) {
  std::array<double, 4> value = {0, 0, 0, 1};
  for (size_t i = 0; i < format.components.size(); ++i)
    value[i] = component_value(format, i, pixel);
  return value;
}

// The index of a pixel along an axis when the image is thought to go on for ever; -1: the border.
inline int64_t extended_index(int64_t index, int64_t size, ze_sampler_address_mode_t mode) {
  const auto modulo = [](int64_t a, int64_t b) { return (a % b + b) % b; };
  switch (mode) {
    case ZE_SAMPLER_ADDRESS_MODE_REPEAT:
      return modulo(index, size);
    case ZE_SAMPLER_ADDRESS_MODE_MIRROR: {
      const int64_t inside = modulo(index, 2 * size);
      return inside < size ? inside : 2 * size - 1 - inside;
    }
    case ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER:
      return index < 0 || index >= size ? -1 : index;
    default:
      return std::clamp<int64_t>(index, 0, size - 1);
  }
}

// An image of values, not of bits.
struct oracle_image {
  std::array<int64_t, 3> size{1, 1, 1};
  size_t spatial_axes = 2;
  bool is_array = false;  // the axis after the spatial ones chooses a layer
  std::array<double, 4> border{};
  std::vector<std::array<double, 4>> pixels;

  const std::array<double, 4>& at(const std::array<int64_t, 3>& index) const {
    for (size_t i = 0; i < 3; ++i) {
      if (index[i] < 0) return border;
    }
    return pixels[static_cast<size_t>((index[2] * size[1] + index[1]) * size[0] + index[0])];
  }

  std::array<double, 4> sample(const ze_sampler_desc_t& sampler,
                               const std::array<double, 3>& place) const {
    const bool is_linear = sampler.filterMode == ZE_SAMPLER_FILTER_MODE_LINEAR;
    std::array<double, 4> sum{};
    for (unsigned corner = 0; corner < (is_linear ? 1U << spatial_axes : 1U); ++corner) {
      std::array<int64_t, 3> index{};
      double weight = 1;
      for (size_t axis = 0; axis < spatial_axes; ++axis) {
        const double position =
            place[axis] * (sampler.isNormalized != 0 ? static_cast<double>(size[axis]) : 1.0);
        const double shifted = is_linear ? position - 0.5 : position;
        const bool second = (corner >> axis & 1) != 0;
        const double fraction = shifted - std::floor(shifted);
        if (is_linear) weight *= second ? fraction : 1 - fraction;
        index[axis] = extended_index(static_cast<int64_t>(std::floor(shifted)) + (second ? 1 : 0),
                                     size[axis], sampler.addressMode);
      }
      if (is_array) {
        index[spatial_axes] =
            std::clamp<int64_t>(std::llrint(place[spatial_axes]), 0, size[spatial_axes] - 1);
      }
      const auto& pixel = at(index);
      for (size_t i = 0; i < 4; ++i) sum[i] += weight * pixel[i];
    }
    return sum;
  }
};

}  // namespace zevent::driver::test
