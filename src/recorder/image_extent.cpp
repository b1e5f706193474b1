#include "recorder/image_extent.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "recorder/readable.hpp"

namespace zevent::recorder {
namespace {

// 0 where the layout has planes or a size of its own.
uint32_t bytes_of_pixel(ze_image_format_layout_t layout) {
  switch (layout) {
    case ZE_IMAGE_FORMAT_LAYOUT_8:
      return 1;
    case ZE_IMAGE_FORMAT_LAYOUT_16:
    case ZE_IMAGE_FORMAT_LAYOUT_8_8:
    case ZE_IMAGE_FORMAT_LAYOUT_5_6_5:
    case ZE_IMAGE_FORMAT_LAYOUT_5_5_5_1:
    case ZE_IMAGE_FORMAT_LAYOUT_4_4_4_4:
      return 2;
    case ZE_IMAGE_FORMAT_LAYOUT_8_8_8:
      return 3;
    case ZE_IMAGE_FORMAT_LAYOUT_32:
    case ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8:
    case ZE_IMAGE_FORMAT_LAYOUT_16_16:
    case ZE_IMAGE_FORMAT_LAYOUT_10_10_10_2:
    case ZE_IMAGE_FORMAT_LAYOUT_11_11_10:
      return 4;
    case ZE_IMAGE_FORMAT_LAYOUT_16_16_16:
      return 6;
    case ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16:
    case ZE_IMAGE_FORMAT_LAYOUT_32_32:
      return 8;
    case ZE_IMAGE_FORMAT_LAYOUT_32_32_32:
      return 12;
    case ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32:
      return 16;
    default:
      return 0;
  }
}

using extent = std::array<uint64_t, 3>;

size_t axes_of(ze_image_type_t type) {
  switch (type) {
    case ZE_IMAGE_TYPE_1DARRAY:
    case ZE_IMAGE_TYPE_2D:
      return 2;
    case ZE_IMAGE_TYPE_2DARRAY:
    case ZE_IMAGE_TYPE_3D:
      return 3;
    default:
      return 1;
  }
}

// Layers of an array are its last axis.
extent whole_of(const ze_image_desc_t& image, uint64_t pixel_bytes) {
  switch (image.type) {
    case ZE_IMAGE_TYPE_1DARRAY:
      return {image.width, image.arraylevels, 1};
    case ZE_IMAGE_TYPE_2DARRAY:
      return {image.width, image.height, image.arraylevels};
    case ZE_IMAGE_TYPE_BUFFER:  // the width is in bytes
      return {image.width / pixel_bytes, 1, 1};
    default:
      return {image.width, image.height, image.depth};
  }
}

}  // namespace

uint64_t extent_of_rows(uint64_t row_bytes, uint64_t rows, uint64_t slices, uint64_t pitch,
                        uint64_t slice_pitch) {
  if (row_bytes == 0 || rows == 0 || slices == 0) return 0;
  if (pitch == 0) pitch = row_bytes;
  if (slice_pitch == 0) slice_pitch = pitch * rows;
  return (slices - 1) * slice_pitch + (rows - 1) * pitch + row_bytes;
}

uint64_t extent_of_image_copy(const ze_image_desc_t& image, const ze_image_region_t* region,
                              uint64_t row_pitch, uint64_t slice_pitch) {
  const uint64_t pixel_bytes = bytes_of_pixel(image.format.layout);
  if (pixel_bytes == 0) return 0;
  extent size = whole_of(image, pixel_bytes);
  if (is_address(region)) size = {region->width, region->height, region->depth};
  for (size_t axis = axes_of(image.type); axis < size.size(); ++axis) size[axis] = 1;
  // What lies between the rows of such an array may be told as if they were slices.
  if (image.type == ZE_IMAGE_TYPE_1DARRAY && slice_pitch != 0) {
    row_pitch = std::exchange(slice_pitch, 0);
  }
  return extent_of_rows(size[0] * pixel_bytes, size[1], size[2], row_pitch, slice_pitch);
}

}  // namespace zevent::recorder
