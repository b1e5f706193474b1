#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "zevent/strided_copy.hpp"

namespace zevent {

// One byte of a copy, as offsets from the element with all indices 0.
struct copied_byte {
  int64_t destination;
  int64_t source;
  friend auto operator<=>(const copied_byte&, const copied_byte&) = default;
};

// What a strided copy is, spelled out byte by byte: the oracle of the planner. Sorted.
inline std::vector<copied_byte> naive_strided_copy(const strided_shape& shape) {
  std::vector<copied_byte> bytes;
  for (const uint64_t extent : shape.extents) {
    if (extent == 0) return bytes;
  }
  std::vector<uint64_t> index(shape.extents.size(), 0);
  for (bool more = true; more;) {
    copied_byte at{0, 0};
    for (size_t i = 0; i < index.size(); ++i) {
      at.source += static_cast<int64_t>(index[i]) * shape.source_strides_bytes[i];
      at.destination += static_cast<int64_t>(index[i]) * shape.destination_strides_bytes[i];
    }
    for (int64_t b = 0; b < static_cast<int64_t>(shape.element_bytes); ++b) {
      bytes.push_back({at.destination + b, at.source + b});
    }
    more = false;
    for (size_t i = index.size(); i-- > 0 && !more;) {
      more = ++index[i] < shape.extents[i];
      if (!more) index[i] = 0;
    }
  }
  std::sort(bytes.begin(), bytes.end());
  return bytes;
}

inline bool writes_a_byte_twice(const std::vector<copied_byte>& sorted) {
  return std::adjacent_find(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
           return a.destination == b.destination;
         }) != sorted.end();
}

// The same for the operations of a plan, taken by their definition.
inline std::vector<copied_byte> bytes_of(const copy_plan& plan) {
  std::vector<copied_byte> bytes;
  for (const copy_operation& operation : plan) {
    for (int64_t z = 0; z < operation.depth; ++z) {
      for (int64_t y = 0; y < operation.height; ++y) {
        for (int64_t x = 0; x < static_cast<int64_t>(operation.width_bytes); ++x) {
          bytes.push_back({operation.destination_offset_bytes +
                               z * operation.destination_slice_pitch_bytes +
                               y * operation.destination_pitch_bytes + x,
                           operation.source_offset_bytes + z * operation.source_slice_pitch_bytes +
                               y * operation.source_pitch_bytes + x});
        }
      }
    }
  }
  std::sort(bytes.begin(), bytes.end());
  return bytes;
}

}  // namespace zevent
