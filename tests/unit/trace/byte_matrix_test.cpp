#include "trace/byte_matrix.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace zevent::trace {
namespace {

TEST(byte_matrix, every_byte_gets_to_its_place_for_any_size) {
  std::mt19937 random(3);
  for (size_t rows = 0; rows < 40; ++rows) {
    for (size_t columns = 0; columns < 40; ++columns) {
      std::vector<std::byte> from(rows * columns), to(rows * columns);
      for (auto& byte : from) byte = static_cast<std::byte>(random());
      transpose_bytes(from, rows, columns, to);
      for (size_t row = 0; row < rows; ++row)
        for (size_t column = 0; column < columns; ++column)
          ASSERT_EQ(to[column * rows + row], from[row * columns + column])
              << rows << " x " << columns << " at " << row << ", " << column;
    }
  }
}

}  // namespace
}  // namespace zevent::trace
