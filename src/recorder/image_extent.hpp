#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>

namespace zevent::recorder {

// How far rows of so many bytes reach from the first to the end of the last. Pitches of 0 mean that
// there are no gaps.
uint64_t extent_of_rows(uint64_t row_bytes, uint64_t rows, uint64_t slices, uint64_t pitch,
                        uint64_t slice_pitch);

// How far a copy between an image, or a region of it, and memory reaches in that memory: 0 where
// the layout has planes. Axes that a type of image does not have are not looked at, in images and
// regions alike.
uint64_t extent_of_image_copy(const ze_image_desc_t& image, const ze_image_region_t* region,
                              uint64_t row_pitch, uint64_t slice_pitch);

}  // namespace zevent::recorder
