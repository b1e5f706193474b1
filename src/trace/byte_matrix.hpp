#pragma once

#include <cstddef>
#include <span>

namespace zevent::trace {

// Exchanges rows and columns: `from` holds `rows` rows of `columns` bytes, `to` gets `columns` rows
// of `rows` bytes. Both are rows * columns bytes and do not overlap.
void transpose_bytes(std::span<const std::byte> from, size_t rows, size_t columns,
                     std::span<std::byte> to);

}  // namespace zevent::trace
