// Reads and writes of pixels by kernels, by the rules of OpenCL C ("Image Addressing and
// Filtering").

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "driver/image_descriptor.hpp"

namespace zevent::driver {
namespace {

using pixel_index = std::array<int64_t, 3>;

float as_float(uint32_t bits) {
  return std::bit_cast<float>(bits);
}

// Any number, and what is none, without overflow.
int64_t to_index(float value) {
  constexpr float most = 0x1p30F;
  if (!(value > -most)) return -(int64_t{1} << 30);
  return static_cast<int64_t>(std::min(value, most));
}

bool is_inside(const image_descriptor& image, const pixel_index& at) {
  for (size_t axis = 0; axis < image.axes; ++axis) {
    if (at[axis] < 0 || at[axis] >= static_cast<int64_t>(image.sizes[axis])) return false;
  }
  return image.base != nullptr;
}

std::byte* address_of(const image_descriptor& image, const pixel_index& at) {
  std::byte* address = image.base;
  for (size_t axis = 0; axis < image.axes; ++axis) {
    address += static_cast<uint64_t>(at[axis]) * image.pitches_bytes[axis];
  }
  return address;
}

color border_of(const image_descriptor& image) {
  if (image.format.has_alpha) return {};
  return {0, 0, 0, image.format.holds_integers() ? 1 : std::bit_cast<uint32_t>(1.0F)};
}

color load(const image_descriptor& image, const pixel_index& at) {
  if (!is_inside(image, at)) return border_of(image);
  return decode_pixel(image.format, address_of(image, at));
}

uint64_t mode_of(uint64_t access) {
  return access & image_access::address_mode_mask;
}

// Brings an index into the image, except where what is outside has the border's color.
int64_t wrap(int64_t index, int64_t size, uint64_t mode) {
  if (mode == image_access::clamp_to_border) return std::clamp<int64_t>(index, -1, size);
  if (mode == image_access::repeat) {
    if (index < 0) index += size;
    if (index >= size) index -= size;
  }
  return std::clamp<int64_t>(index, 0, size - 1);
}

// Where a coordinate lies along an axis, in pixels.
float position_of(float coordinate, int64_t size, uint64_t access) {
  const auto length = static_cast<float>(size);
  const bool is_normalized = (access & image_access::is_normalized) != 0;
  const float fraction = is_normalized ? coordinate : coordinate / length;
  switch (mode_of(access)) {
    case image_access::repeat:
      return (fraction - std::floor(fraction)) * length;
    case image_access::mirrored_repeat:
      return std::fabs(fraction - 2.0F * std::rint(0.5F * fraction)) * length;
    default:
      return is_normalized ? coordinate * length : coordinate;
  }
}

// The two pixels along an axis that a position lies between, and how near to the second.
struct neighbours {
  int64_t first = 0, second = 0;
  float weight = 0;
};

neighbours locate(uint32_t coordinate, int64_t size, uint64_t access) {
  const uint64_t mode = mode_of(access);
  if ((access & image_access::has_float_place) == 0) {
    const int64_t index = wrap(static_cast<int32_t>(coordinate), size, mode);
    return {index, index, 0};
  }
  const float position = position_of(as_float(coordinate), size, access);
  if ((access & image_access::is_linear) == 0) {
    const int64_t index = wrap(to_index(std::floor(position)), size, mode);
    return {index, index, 0};
  }
  const float shifted = position - 0.5F;
  const float lower = std::floor(shifted);
  const int64_t first = to_index(lower);
  return {wrap(first, size, mode), wrap(first + 1, size, mode), shifted - lower};
}

int64_t layer_of(uint32_t coordinate, int64_t layers, uint64_t access) {
  const bool is_float = (access & image_access::has_float_place) != 0;
  const int64_t layer = is_float ? to_index(std::rint(as_float(coordinate)))
                                 : int64_t{static_cast<int32_t>(coordinate)};
  return std::clamp<int64_t>(layer, 0, layers - 1);
}

color interpolate(const image_descriptor& image, const std::array<neighbours, 3>& around,
                  size_t spatial_axes) {
  std::array<float, 4> sums{};
  for (unsigned corner = 0; corner < 1U << spatial_axes; ++corner) {
    pixel_index at{};
    float weight = 1;
    for (size_t axis = 0; axis < image.axes; ++axis) {
      const bool takes_second = axis < spatial_axes && (corner >> axis & 1) != 0;
      at[axis] = takes_second ? around[axis].second : around[axis].first;
      if (axis < spatial_axes) {
        weight *= takes_second ? around[axis].weight : 1 - around[axis].weight;
      }
    }
    // A pixel that does not count must not spoil the sum by being infinite.
    if (weight == 0) continue;
    const color pixel = load(image, at);
    for (size_t i = 0; i < 4; ++i) sums[i] += weight * as_float(pixel[i]);
  }
  color result;
  for (size_t i = 0; i < 4; ++i) result[i] = std::bit_cast<uint32_t>(sums[i]);
  return result;
}

// A kernel that asks for the other kind of numbers than the image holds gets the values. OpenCL
// leaves open what it gets.
color to_floats(const image_descriptor& image, color channels) {
  const bool is_signed = image.format.type == ZE_IMAGE_FORMAT_TYPE_SINT;
  for (uint32_t& each : channels) {
    const float number =
        is_signed ? static_cast<float>(static_cast<int32_t>(each)) : static_cast<float>(each);
    each = std::bit_cast<uint32_t>(number);
  }
  return channels;
}

color to_integers(color channels) {
  constexpr float most = 2147483520.0F;  // the largest below 2^31
  for (uint32_t& each : channels) {
    const float number = as_float(each);
    each = std::isnan(number)
               ? 0
               : static_cast<uint32_t>(static_cast<int32_t>(std::clamp(number, -most, most)));
  }
  return channels;
}

}  // namespace

void read_image(const image_descriptor* image, uint64_t access, const color* place,
                color* channels) {
  const size_t spatial_axes = image->axes - (image->is_array ? 1 : 0);
  const bool holds_integers = image->format.holds_integers();
  if (holds_integers) access &= ~image_access::is_linear;
  std::array<neighbours, 3> around{};
  for (size_t axis = 0; axis < image->axes; ++axis) {
    const auto size = static_cast<int64_t>(image->sizes[axis]);
    const uint32_t coordinate = (*place)[axis];
    if (axis < spatial_axes) {
      around[axis] = locate(coordinate, size, access);
    } else {
      around[axis].first = layer_of(coordinate, size, access);
    }
  }
  const bool is_linear =
      (access & image_access::is_linear) != 0 && (access & image_access::has_float_place) != 0;
  color result = is_linear ? interpolate(*image, around, spatial_axes)
                           : load(*image, {around[0].first, around[1].first, around[2].first});
  const bool wants_integers = (access & image_access::has_integers) != 0;
  if (wants_integers && !holds_integers) result = to_integers(result);
  if (!wants_integers && holds_integers) result = to_floats(*image, result);
  *channels = result;
}

void write_image(const image_descriptor* image, uint64_t access, const color* place,
                 color* channels) {
  pixel_index at{};
  for (size_t axis = 0; axis < image->axes; ++axis) at[axis] = static_cast<int32_t>((*place)[axis]);
  if (!is_inside(*image, at)) return;
  const bool gives_integers = (access & image_access::has_integers) != 0;
  const bool holds_integers = image->format.holds_integers();
  color written = *channels;
  if (gives_integers && !holds_integers) written = to_floats(*image, written);
  if (!gives_integers && holds_integers) written = to_integers(written);
  encode_pixel(image->format, written, address_of(*image, at));
}

}  // namespace zevent::driver
