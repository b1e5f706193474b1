#include "trace/column.hpp"

#include <gtest/gtest.h>

#include <random>

#include "written_file.hpp"

namespace zevent::trace {
namespace {

constexpr column_id any_column = 5;

chunk chunk_with(std::span<const uint64_t> values) {
  const auto file = chunk_file::parse(own_bytes(written_file([&](chunk_writer& writer) {
    std::vector<stream_source> streams;
    const column_planes planes(any_column, values);
    planes.append_streams(streams);
    ASSERT_TRUE(writer.append(chunk_kind::calls, 0, values.size(), streams));
  })));
  auto loaded = file->load(file->chunks().front());
  EXPECT_TRUE(loaded);
  return std::move(*loaded);
}

TEST(column, any_values_come_back_as_they_were) {
  std::mt19937_64 random(1);
  for (unsigned bits = 0; bits <= 64; ++bits) {
    std::vector<uint64_t> values(1 + random() % 300);
    for (auto& value : values) value = bits == 0 ? 0 : random() >> (64 - bits);
    std::vector<uint64_t> read(values.size(), 99);
    ASSERT_TRUE(decode_column(chunk_with(values), any_column, std::span(read)));
    EXPECT_EQ(read, values) << "of " << bits << " bits";
  }
}

TEST(column, zeros_take_no_stream) {
  EXPECT_FALSE(chunk_with(std::vector<uint64_t>(10)).decoded_bytes(plane_stream(any_column, 0)));
}

TEST(column, value_wider_than_the_reader_wants_is_refused) {
  const std::vector<uint64_t> values{1, uint64_t{1} << 32};
  std::vector<uint32_t> read(values.size());
  EXPECT_FALSE(decode_column(chunk_with(values), any_column, std::span(read)));
}

TEST(column, another_count_of_values_is_refused) {
  const std::vector<uint64_t> values{1, 2, 3};
  std::vector<uint64_t> read(2);
  EXPECT_FALSE(decode_column(chunk_with(values), any_column, std::span(read)));
}

TEST(column, sums_that_overflow_are_noticed) {
  std::vector<uint64_t> values{5, UINT64_MAX - 4};
  EXPECT_FALSE(undo_delta(values, 0));
  values = {5, 6};
  EXPECT_TRUE(undo_delta(values, 10));
  EXPECT_EQ(values, (std::vector<uint64_t>{15, 21}));
}

}  // namespace
}  // namespace zevent::trace
