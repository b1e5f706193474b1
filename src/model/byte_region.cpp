#include "model/byte_region.hpp"

#include <algorithm>
#include <utility>

namespace zevent::model {
namespace {

uint64_t add(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

uint64_t multiply(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

uint64_t row_start(const byte_region& region, uint64_t slice, uint64_t row) {
  return add(region.first,
             add(multiply(slice, region.slice_pitch), multiply(row, region.row_pitch)));
}

std::optional<byte_range> intersect(uint64_t a, uint64_t a_end, uint64_t b, uint64_t b_end) {
  const uint64_t first = std::max(a, b);
  const uint64_t end = std::min(a_end, b_end);
  if (first >= end) return std::nullopt;
  return byte_range{first, end - first};
}

// The first row of one slice of `region` that meets [from, to).
std::optional<byte_range> meets_slice(const byte_region& region, uint64_t slice, uint64_t from,
                                      uint64_t to) {
  const uint64_t base = row_start(region, slice, 0);
  uint64_t row = 0;
  if (region.rows > 1 && region.row_pitch > 0 && from > base) {
    row = (from - base) / region.row_pitch;  // the last row that starts at or before `from`
    if (row >= region.rows) row = region.rows - 1;
    // Rows may be longer than their distance: earlier ones may reach as far.
    row -= std::min(row, region.row_bytes / region.row_pitch);
  }
  for (; row < region.rows; ++row) {
    const uint64_t start = row_start(region, slice, row);
    if (start >= to) break;
    if (const auto found = intersect(start, add(start, region.row_bytes), from, to)) return found;
    if (region.row_pitch == 0) break;
  }
  return std::nullopt;
}

uint64_t row_count(const byte_region& region) {
  return multiply(region.rows, region.slices);
}

// Beyond so many rows the exact answer costs more than it is worth, and regions whose bounds meet
// count as meeting.
constexpr uint64_t most_rows = uint64_t{1} << 20;

}  // namespace

uint64_t byte_region::end() const {
  if (empty()) return first;
  return add(row_start(*this, slices - 1, rows - 1), row_bytes);
}

byte_region simplified(byte_region region) {
  if (region.empty()) return {region.first, 0};
  if (region.rows > 1 && region.row_pitch == region.row_bytes) {
    region.row_bytes = multiply(region.row_bytes, region.rows);
    region.rows = 1;
  }
  if (region.rows == 1) {
    region.row_pitch = 0;
    if (region.slices > 1) {
      region.rows = std::exchange(region.slices, 1);
      region.row_pitch = std::exchange(region.slice_pitch, 0);
      return simplified(region);
    }
  }
  if (region.slices == 1) region.slice_pitch = 0;
  return region;
}

std::optional<byte_range> overlap(const byte_region& a, const byte_region& b) {
  if (a.empty() || b.empty()) return std::nullopt;
  const auto bounds = intersect(a.first, a.end(), b.first, b.end());
  if (!bounds || (a.contiguous() && b.contiguous())) return bounds;
  if (row_count(b) < row_count(a)) return overlap(b, a);
  if (multiply(row_count(a), b.slices) > most_rows) return bounds;
  for (uint64_t slice = 0; slice < a.slices; ++slice) {
    for (uint64_t row = 0; row < a.rows; ++row) {
      const uint64_t from = row_start(a, slice, row);
      const uint64_t to = add(from, a.row_bytes);
      if (to <= bounds->first) continue;
      if (from >= bounds->end()) break;
      for (uint64_t other = 0; other < b.slices; ++other) {
        if (const auto found = meets_slice(b, other, from, to)) return found;
      }
    }
  }
  return std::nullopt;
}

}  // namespace zevent::model
