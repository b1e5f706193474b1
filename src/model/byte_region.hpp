#pragma once

#include <cstdint>
#include <optional>

namespace zevent::model {

// Bytes that a command touches: rows of equal length at equal distances, in slices at equal
// distances. Addresses come from a trace and may be anything: arithmetic saturates.
struct byte_region {
  uint64_t first = 0;      // address
  uint64_t row_bytes = 0;  // 0: touches nothing
  uint64_t rows = 1;
  uint64_t row_pitch = 0;  // bytes
  uint64_t slices = 1;
  uint64_t slice_pitch = 0;  // bytes

  bool empty() const { return row_bytes == 0 || rows == 0 || slices == 0; }
  bool contiguous() const { return rows <= 1 && slices <= 1; }
  uint64_t end() const;  // one past the last byte
};

// The same bytes with as few rows and slices as they can be described with.
byte_region simplified(byte_region region);

struct byte_range {
  uint64_t first = 0;
  uint64_t bytes = 0;
  uint64_t end() const { return first + bytes; }
  friend bool operator==(const byte_range&, const byte_range&) = default;
};

// The first run of bytes that both touch; nullopt when there is none. Both are simplified.
std::optional<byte_range> overlap(const byte_region& a, const byte_region& b);

}  // namespace zevent::model
