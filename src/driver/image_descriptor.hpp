#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "driver/image_format.hpp"

namespace zevent::driver {

struct image_descriptor;

// What a kernel is given for an image argument. Its first words are read, and its functions called,
// by the code that spirv_images.hpp makes of a kernel's image instructions; the rest is for those
// functions.
//
//   +0   the function that reads a pixel     +40  channel data type, as SPIR-V numbers them
//   +8   the function that writes one        +48  channel order, likewise
//   +16  sizes, an array's layers last
struct image_descriptor {
  // `access` is a combination of the bits of image_access; `place` are coordinates, as integers or
  // as bits of floating-point numbers; the channels are what the access says.
  using function = void (*)(const image_descriptor* image, uint64_t access, const color* place,
                            color* channels);

  function read = nullptr;
  function write = nullptr;
  std::array<uint64_t, 3> sizes{1, 1, 1};
  uint64_t channel_data_type = 0;
  uint64_t channel_order = 0;

  std::byte* base = nullptr;                // null: reads give zero, writes are lost
  std::array<uint64_t, 3> pitches_bytes{};  // from one pixel to the next along each axis
  uint32_t axes = 1;                        // of sizes and coordinates, layers included
  bool is_array = false;
  pixel_format format;
};
static_assert(offsetof(image_descriptor, sizes) == 16);
static_assert(offsetof(image_descriptor, channel_data_type) == 40);
static_assert(offsetof(image_descriptor, channel_order) == 48);

// How a pixel is accessed. The lowest bits are a sampler, as OpConstantSampler numbers its parts;
// the value of a sampler argument consists of them.
namespace image_access {
constexpr uint64_t address_mode_mask = 7;
constexpr uint64_t clamp_to_edge = 1;
constexpr uint64_t clamp_to_border = 2;
constexpr uint64_t repeat = 3;
constexpr uint64_t mirrored_repeat = 4;
constexpr uint64_t is_normalized = 1 << 3;
constexpr uint64_t is_linear = 1 << 4;

constexpr uint64_t has_float_place = 1 << 8;  // else integers
constexpr uint64_t has_integers = 1 << 9;     // the channels; else floating-point numbers

// A read without a sampler: outside of the image there is nothing, that is zero.
constexpr uint64_t unsampled = clamp_to_border;
}  // namespace image_access

void read_image(const image_descriptor* image, uint64_t access, const color* place,
                color* channels);
// Writes outside of the image are lost.
void write_image(const image_descriptor* image, uint64_t access, const color* place,
                 color* channels);

}  // namespace zevent::driver
