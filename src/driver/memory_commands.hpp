#pragma once

#include <level_zero/ze_api.h>

#include <cstddef>
#include <memory>

#include "driver/command.hpp"

namespace zevent::driver {

std::unique_ptr<command> make_copy(void* destination, const void* source, size_t bytes);

// The pattern is taken at once: the caller's copy may change after the append.
std::unique_ptr<command> make_fill(void* destination, const void* pattern, size_t pattern_bytes,
                                   size_t bytes);

// One side of a region copy.
struct region_side {
  const void* base;
  ze_copy_region_t region;
  size_t pitch_bytes;
  size_t slice_pitch_bytes;
};

// OVERLAPPING_REGIONS where source and destination share bytes, INVALID_SIZE where their extents
// differ; else the command.
ze_result_t make_region_copy(const region_side& destination, const region_side& source,
                             std::unique_ptr<command>* out);

}  // namespace zevent::driver
