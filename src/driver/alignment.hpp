#pragma once

#include <cstddef>
#include <cstdint>

namespace zevent::driver {

// Of the host's memory.
inline constexpr size_t page_bytes = 4096;

inline uint64_t round_up(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace zevent::driver
