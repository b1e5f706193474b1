#pragma once

#include <level_zero/ze_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace zevent::driver {

// The four channels of a pixel as kernels see them: bits of 32-bit floating-point numbers, or
// integers, depending on the format.
using color = std::array<uint32_t, 4>;

// How a pixel lies in memory. Components are numbered from the lowest address, and in layouts whose
// components share bytes from the lowest bit; 5_6_5, 5_5_5_1 and 4_4_4_4 have blue lowest and red
// above green, as on Intel's devices.
struct pixel_format {
  struct component {
    uint8_t offset_bits = 0;  // no component crosses a 32-bit word
    uint8_t bits = 0;
  };
  static constexpr uint8_t zero = 4, one = 5;  // channels that no component feeds

  ze_image_format_type_t type = ZE_IMAGE_FORMAT_TYPE_UINT;
  uint8_t pixel_bytes = 0;
  uint8_t component_count = 0;
  std::array<component, 4> components{};  // red, green, blue, alpha
  std::array<uint8_t, 4> channels{};      // x, y, z, w: a component, or zero or one
  bool has_alpha = false;                 // so that the color beyond the border is all zero
  uint32_t channel_data_type = 0;         // as SPIR-V numbers them; unnamed: there is no number
  uint32_t channel_order = 0;

  static constexpr uint32_t unnamed = ~uint32_t{0};

  bool holds_integers() const {
    return type == ZE_IMAGE_FORMAT_TYPE_UINT || type == ZE_IMAGE_FORMAT_TYPE_SINT;
  }
};

// Nullopt for formats that the driver does not have.
std::optional<pixel_format> find_pixel_format(const ze_image_format_t& format);

color decode_pixel(const pixel_format& format, const std::byte* pixel);
// Numbers out of range become the nearest in range, what is not a number becomes zero.
void encode_pixel(const pixel_format& format, const color& channels, std::byte* pixel);

}  // namespace zevent::driver
