#include "trace/byte_matrix.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "base/invariant.hpp"

namespace zevent::trace {
namespace {

using tile = std::array<uint64_t, 8>;  // 8 rows of 8 bytes

// Swaps the off-diagonal blocks of 4 × 4, then 2 × 2, then 1 × 1 bytes.
void transpose_tile(tile& rows) {
  const auto swap_blocks = [&](size_t distance, unsigned shift, uint64_t mask) {
    for (size_t i = 0; i < 8; ++i) {
      if ((i & distance) != 0) continue;
      const uint64_t swapped = ((rows[i] >> shift) ^ rows[i + distance]) & mask;
      rows[i + distance] ^= swapped;
      rows[i] ^= swapped << shift;
    }
  };
  swap_blocks(4, 32, 0x00000000ffffffff);
  swap_blocks(2, 16, 0x0000ffff0000ffff);
  swap_blocks(1, 8, 0x00ff00ff00ff00ff);
}

}  // namespace

void transpose_bytes(std::span<const std::byte> from, size_t rows, size_t columns,
                     std::span<std::byte> to) {
  ZEVENT_INVARIANT(from.size() == rows * columns && to.size() == from.size());
  const size_t tiled_rows = rows & ~size_t{7};
  const size_t tiled_columns = columns & ~size_t{7};
  for (size_t row = 0; row < tiled_rows; row += 8) {
    for (size_t column = 0; column < tiled_columns; column += 8) {
      tile block;
      for (size_t i = 0; i < 8; ++i)
        std::memcpy(&block[i], from.data() + (row + i) * columns + column, 8);
      transpose_tile(block);
      for (size_t i = 0; i < 8; ++i)
        std::memcpy(to.data() + (column + i) * rows + row, &block[i], 8);
    }
    for (size_t i = row; i < row + 8; ++i)
      for (size_t column = tiled_columns; column < columns; ++column)
        to[column * rows + i] = from[i * columns + column];
  }
  for (size_t row = tiled_rows; row < rows; ++row)
    for (size_t column = 0; column < columns; ++column)
      to[column * rows + row] = from[row * columns + column];
}

}  // namespace zevent::trace
