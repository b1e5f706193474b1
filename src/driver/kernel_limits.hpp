#pragma once

#include <cstdint>

namespace zevent::driver {

// Limits of launches, which a device's compute and module properties report.
inline constexpr uint32_t largest_group_size = 1024;  // work-items, in each dimension too
inline constexpr uint32_t largest_local_memory_bytes = 64 << 10;  // of a group
inline constexpr uint32_t printf_buffer_bytes = 1 << 20;          // of a group

// How many work-items make a sub-group: what is told, because it is what GPUs have, what it is when
// a kernel does not require any, and the most that it may require, which is what a mask of lanes
// holds.
inline constexpr uint32_t sub_group_sizes[] = {8, 16, 32};
inline constexpr uint32_t default_sub_group_size = 32;
inline constexpr uint32_t largest_sub_group_size = 128;

}  // namespace zevent::driver
