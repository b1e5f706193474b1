#include "driver/image_format.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <spirv/unified1/spirv.hpp>

#include "driver/small_float.hpp"

namespace zevent::driver {
namespace {

constexpr unsigned half_mantissa_bits = 10;
constexpr uint32_t float_sign = uint32_t{1} << 31;

struct layout_description {
  ze_image_format_layout_t layout;
  uint8_t pixel_bytes;
  uint8_t component_count;
  std::array<pixel_format::component, 4> components;
};

// The order of the components is red, green, blue, alpha.
constexpr layout_description layouts[] = {
    {ZE_IMAGE_FORMAT_LAYOUT_8, 1, 1, {{{0, 8}}}},
    {ZE_IMAGE_FORMAT_LAYOUT_16, 2, 1, {{{0, 16}}}},
    {ZE_IMAGE_FORMAT_LAYOUT_32, 4, 1, {{{0, 32}}}},
    {ZE_IMAGE_FORMAT_LAYOUT_8_8, 2, 2, {{{0, 8}, {8, 8}}}},
    {ZE_IMAGE_FORMAT_LAYOUT_16_16, 4, 2, {{{0, 16}, {16, 16}}}},
    {ZE_IMAGE_FORMAT_LAYOUT_32_32, 8, 2, {{{0, 32}, {32, 32}}}},
    {ZE_IMAGE_FORMAT_LAYOUT_8_8_8, 3, 3, {{{0, 8}, {8, 8}, {16, 8}}}},
    {ZE_IMAGE_FORMAT_LAYOUT_16_16_16, 6, 3, {{{0, 16}, {16, 16}, {32, 16}}}},
    {ZE_IMAGE_FORMAT_LAYOUT_32_32_32, 12, 3, {{{0, 32}, {32, 32}, {64, 32}}}},
    {ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, 4, 4, {{{0, 8}, {8, 8}, {16, 8}, {24, 8}}}},
    {ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16, 8, 4, {{{0, 16}, {16, 16}, {32, 16}, {48, 16}}}},
    {ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32, 16, 4, {{{0, 32}, {32, 32}, {64, 32}, {96, 32}}}},
    {ZE_IMAGE_FORMAT_LAYOUT_10_10_10_2, 4, 4, {{{0, 10}, {10, 10}, {20, 10}, {30, 2}}}},
    {ZE_IMAGE_FORMAT_LAYOUT_11_11_10, 4, 3, {{{0, 11}, {11, 11}, {22, 10}}}},
    {ZE_IMAGE_FORMAT_LAYOUT_5_6_5, 2, 3, {{{11, 5}, {5, 6}, {0, 5}}}},
    {ZE_IMAGE_FORMAT_LAYOUT_5_5_5_1, 2, 4, {{{10, 5}, {5, 5}, {0, 5}, {15, 1}}}},
    {ZE_IMAGE_FORMAT_LAYOUT_4_4_4_4, 2, 4, {{{8, 4}, {4, 4}, {0, 4}, {12, 4}}}},
};

// A 32-bit floating-point number cannot tell all normalised 32-bit numbers apart, and those of
// mixed sizes are defined for some types only.
bool is_possible(ze_image_format_layout_t layout, uint8_t bits, ze_image_format_type_t type) {
  switch (layout) {
    case ZE_IMAGE_FORMAT_LAYOUT_11_11_10:
      return type == ZE_IMAGE_FORMAT_TYPE_FLOAT;
    case ZE_IMAGE_FORMAT_LAYOUT_5_6_5:
    case ZE_IMAGE_FORMAT_LAYOUT_5_5_5_1:
    case ZE_IMAGE_FORMAT_LAYOUT_4_4_4_4:
      return type == ZE_IMAGE_FORMAT_TYPE_UNORM;
    default:
      break;
  }
  switch (type) {
    case ZE_IMAGE_FORMAT_TYPE_UINT:
    case ZE_IMAGE_FORMAT_TYPE_SINT:
      return true;
    case ZE_IMAGE_FORMAT_TYPE_UNORM:
    case ZE_IMAGE_FORMAT_TYPE_SNORM:
      return bits < 32;
    case ZE_IMAGE_FORMAT_TYPE_FLOAT:
      return bits == 16 || bits == 32;
    default:
      return false;
  }
}

uint32_t data_type_of(ze_image_format_layout_t layout, uint8_t bits, ze_image_format_type_t type) {
  switch (layout) {
    case ZE_IMAGE_FORMAT_LAYOUT_5_6_5:
      return spv::ImageChannelDataTypeUnormShort565;
    case ZE_IMAGE_FORMAT_LAYOUT_5_5_5_1:
      return spv::ImageChannelDataTypeUnormShort555;
    case ZE_IMAGE_FORMAT_LAYOUT_10_10_10_2:
      if (type != ZE_IMAGE_FORMAT_TYPE_UNORM) return pixel_format::unnamed;
      return spv::ImageChannelDataTypeUnormInt101010_2;
    case ZE_IMAGE_FORMAT_LAYOUT_4_4_4_4:
    case ZE_IMAGE_FORMAT_LAYOUT_11_11_10:
      return pixel_format::unnamed;
    default:
      break;
  }
  const auto by_bits = [&](uint32_t of_8, uint32_t of_16, uint32_t of_32) {
    return bits == 8 ? of_8 : bits == 16 ? of_16 : of_32;
  };
  switch (type) {
    case ZE_IMAGE_FORMAT_TYPE_UINT:
      return by_bits(spv::ImageChannelDataTypeUnsignedInt8, spv::ImageChannelDataTypeUnsignedInt16,
                     spv::ImageChannelDataTypeUnsignedInt32);
    case ZE_IMAGE_FORMAT_TYPE_SINT:
      return by_bits(spv::ImageChannelDataTypeSignedInt8, spv::ImageChannelDataTypeSignedInt16,
                     spv::ImageChannelDataTypeSignedInt32);
    case ZE_IMAGE_FORMAT_TYPE_UNORM:
      return by_bits(spv::ImageChannelDataTypeUnormInt8, spv::ImageChannelDataTypeUnormInt16,
                     pixel_format::unnamed);
    case ZE_IMAGE_FORMAT_TYPE_SNORM:
      return by_bits(spv::ImageChannelDataTypeSnormInt8, spv::ImageChannelDataTypeSnormInt16,
                     pixel_format::unnamed);
    default:
      return by_bits(pixel_format::unnamed, spv::ImageChannelDataTypeHalfFloat,
                     spv::ImageChannelDataTypeFloat);
  }
}

uint32_t order_of(const std::array<uint8_t, 4>& channels, bool is_depth) {
  constexpr uint8_t r = 0, g = 1, b = 2, a = 3, zero = pixel_format::zero, one = pixel_format::one;
  struct order {
    std::array<uint8_t, 4> channels;
    uint32_t name;
  };
  constexpr order orders[] = {
      {{r, zero, zero, one}, spv::ImageChannelOrderR},
      {{zero, zero, zero, r}, spv::ImageChannelOrderA},
      {{r, g, zero, one}, spv::ImageChannelOrderRG},
      {{r, zero, zero, g}, spv::ImageChannelOrderRA},
      {{r, g, b, one}, spv::ImageChannelOrderRGB},
      {{r, g, b, a}, spv::ImageChannelOrderRGBA},
      {{b, g, r, a}, spv::ImageChannelOrderBGRA},
      {{a, b, g, r}, spv::ImageChannelOrderABGR},
      {{g, b, a, r}, spv::ImageChannelOrderARGB},
      {{r, r, r, r}, spv::ImageChannelOrderIntensity},
      {{r, r, r, one}, spv::ImageChannelOrderLuminance},
  };
  if (is_depth) return spv::ImageChannelOrderDepth;
  const auto* found = std::find_if(std::begin(orders), std::end(orders),
                                   [&](const order& each) { return each.channels == channels; });
  return found != std::end(orders) ? found->name : pixel_format::unnamed;
}

uint32_t largest_of(unsigned bits) {
  return bits >= 32 ? ~uint32_t{0} : (uint32_t{1} << bits) - 1;
}

int32_t sign_extended(uint32_t value, unsigned bits) {
  return static_cast<int32_t>(value << (32 - bits)) >> (32 - bits);
}

uint32_t decode_float(uint32_t value, unsigned bits) {
  switch (bits) {
    case 32:
      return value;
    case 16:
      return (value & 0x8000) << 16 | widen_small_float(value & 0x7fff, half_mantissa_bits);
    default:  // 11 and 10: no sign
      return widen_small_float(value, bits - 5);
  }
}

uint32_t encode_float(uint32_t value, unsigned bits) {
  switch (bits) {
    case 32:
      return value;
    case 16:
      return (value & float_sign) >> 16 | narrow_to_small_float(value, half_mantissa_bits);
    default: {
      const bool is_number = !std::isnan(std::bit_cast<float>(value));
      if (is_number && (value & float_sign) != 0) return 0;
      return narrow_to_small_float(value, bits - 5);
    }
  }
}

uint32_t decode_component(ze_image_format_type_t type, uint32_t value, unsigned bits) {
  switch (type) {
    case ZE_IMAGE_FORMAT_TYPE_UINT:
      return value;
    case ZE_IMAGE_FORMAT_TYPE_SINT:
      return static_cast<uint32_t>(sign_extended(value, bits));
    case ZE_IMAGE_FORMAT_TYPE_UNORM:
      return std::bit_cast<uint32_t>(static_cast<float>(value) /
                                     static_cast<float>(largest_of(bits)));
    case ZE_IMAGE_FORMAT_TYPE_SNORM:
      return std::bit_cast<uint32_t>(std::max(
          static_cast<float>(sign_extended(value, bits)) / static_cast<float>(largest_of(bits - 1)),
          -1.0F));
    default:
      return decode_float(value, bits);
  }
}

uint32_t encode_component(ze_image_format_type_t type, uint32_t value, unsigned bits) {
  const uint32_t largest = largest_of(bits);
  switch (type) {
    case ZE_IMAGE_FORMAT_TYPE_UINT:
      return std::min(value, largest);
    case ZE_IMAGE_FORMAT_TYPE_SINT: {
      const auto most = static_cast<int32_t>(largest_of(bits - 1));
      return static_cast<uint32_t>(std::clamp(static_cast<int32_t>(value), -most - 1, most)) &
             largest;
    }
    // Products in double precision are exact, so that the nearest is found.
    case ZE_IMAGE_FORMAT_TYPE_UNORM: {
      const auto number = std::bit_cast<float>(value);
      if (!(number > 0)) return 0;  // nor what is not a number
      return static_cast<uint32_t>(
          std::lrint(std::min(number, 1.0F) * static_cast<double>(largest)));
    }
    case ZE_IMAGE_FORMAT_TYPE_SNORM: {
      const auto number = std::bit_cast<float>(value);
      if (std::isnan(number)) return 0;
      const auto scaled =
          std::lrint(std::clamp(number, -1.0F, 1.0F) * static_cast<double>(largest_of(bits - 1)));
      return static_cast<uint32_t>(scaled) & largest;
    }
    default:
      return encode_float(value, bits);
  }
}

// The component that a swizzle names; zero or one where it names none that the layout has.
uint8_t channel_source(ze_image_format_swizzle_t swizzle, size_t channel, uint8_t components) {
  const uint8_t missing = channel == 3 ? pixel_format::one : pixel_format::zero;
  switch (swizzle) {
    case ZE_IMAGE_FORMAT_SWIZZLE_R:
    case ZE_IMAGE_FORMAT_SWIZZLE_G:
    case ZE_IMAGE_FORMAT_SWIZZLE_B:
    case ZE_IMAGE_FORMAT_SWIZZLE_A: {
      const auto component = static_cast<uint8_t>(swizzle);
      return component < components ? component : missing;
    }
    case ZE_IMAGE_FORMAT_SWIZZLE_D:
      return 0;
    case ZE_IMAGE_FORMAT_SWIZZLE_0:
      return pixel_format::zero;
    case ZE_IMAGE_FORMAT_SWIZZLE_1:
      return pixel_format::one;
    default:  // X: anything will do
      return missing;
  }
}

}  // namespace

std::optional<pixel_format> find_pixel_format(const ze_image_format_t& format) {
  const auto* layout = std::find_if(std::begin(layouts), std::end(layouts),
                                    [&](const auto& each) { return each.layout == format.layout; });
  if (layout == std::end(layouts)) return std::nullopt;
  const uint8_t bits = layout->components[0].bits;
  if (!is_possible(format.layout, bits, format.type)) return std::nullopt;
  pixel_format found;
  found.type = format.type;
  found.pixel_bytes = layout->pixel_bytes;
  found.component_count = layout->component_count;
  found.components = layout->components;
  const ze_image_format_swizzle_t swizzles[] = {format.x, format.y, format.z, format.w};
  for (size_t i = 0; i < 4; ++i) {
    if (static_cast<uint32_t>(swizzles[i]) > ZE_IMAGE_FORMAT_SWIZZLE_D) return std::nullopt;
    found.channels[i] = channel_source(swizzles[i], i, layout->component_count);
    found.has_alpha = found.has_alpha || swizzles[i] == ZE_IMAGE_FORMAT_SWIZZLE_A;
  }
  found.has_alpha = found.has_alpha || found.channels[3] < 4;
  found.channel_data_type = data_type_of(format.layout, bits, format.type);
  found.channel_order = order_of(found.channels, format.x == ZE_IMAGE_FORMAT_SWIZZLE_D);
  return found;
}

color decode_pixel(const pixel_format& format, const std::byte* pixel) {
  std::array<uint32_t, 4> words{};
  std::memcpy(words.data(), pixel, format.pixel_bytes);
  color decoded;
  for (size_t i = 0; i < 4; ++i) {
    const uint8_t source = format.channels[i];
    if (source < 4) {
      const pixel_format::component& part = format.components[source];
      const uint32_t value =
          words[part.offset_bits / 32] >> part.offset_bits % 32 & largest_of(part.bits);
      decoded[i] = decode_component(format.type, value, part.bits);
    } else if (source == pixel_format::one) {
      decoded[i] = format.holds_integers() ? 1 : std::bit_cast<uint32_t>(1.0F);
    } else {
      decoded[i] = 0;
    }
  }
  return decoded;
}

void encode_pixel(const pixel_format& format, const color& channels, std::byte* pixel) {
  std::array<uint32_t, 4> words{};
  for (uint8_t component = 0; component < format.component_count; ++component) {
    // The first channel that is fed by it; a component that feeds none becomes zero.
    const auto* channel = std::find(format.channels.begin(), format.channels.end(), component);
    if (channel == format.channels.end()) continue;
    const pixel_format::component& part = format.components[component];
    const uint32_t value = channels[static_cast<size_t>(channel - format.channels.begin())];
    words[part.offset_bits / 32] |= encode_component(format.type, value, part.bits)
                                    << part.offset_bits % 32;
  }
  std::memcpy(pixel, words.data(), format.pixel_bytes);
}

}  // namespace zevent::driver
