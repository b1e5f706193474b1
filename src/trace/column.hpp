#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "trace/chunk_file.hpp"

// A column: one number of every call of a chunk, kept as byte planes.
//
//   values   0x0102 0x0103 0x0204        plane 0: 02 03 04    plane 1: 01 01 02
//
// Plane k of column c is the stream c * 8 + k. Planes above the highest byte in use are left out,
// so that small numbers cost nothing for the width they might have had; a plane whose bytes are all
// the same costs one byte; and each plane gets the entropy code that suits it.
namespace zevent::trace {

using column_id = uint16_t;

inline constexpr unsigned planes_per_column = 8;

inline uint16_t plane_stream(column_id column, unsigned plane) {
  return static_cast<uint16_t>(column * planes_per_column + plane);
}

// The planes of a column on their way into a chunk.
class column_planes {
 public:
  column_planes(column_id column, std::span<const uint64_t> values);

  void append_streams(std::vector<stream_source>& streams) const;

 private:
  column_id column_;
  std::vector<std::vector<std::byte>> planes_;
};

// Reads as many values as `values` has room for. A value that does not fit is an error.
result<void> decode_column(const chunk& source, column_id column, std::span<uint64_t> values);
result<void> decode_column(const chunk& source, column_id column, std::span<uint32_t> values);
result<void> decode_column(const chunk& source, column_id column, std::span<uint8_t> values);

// Turns distances into values in place: each becomes the sum of all up to it, plus `base`. False
// when a sum does not fit.
[[nodiscard]] bool undo_delta(std::span<uint64_t> values, uint64_t base);

}  // namespace zevent::trace
