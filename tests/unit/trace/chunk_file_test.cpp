#include "trace/chunk_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <string>

#include "written_file.hpp"

namespace zevent::trace {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string text_of(const result<std::vector<std::byte>>& bytes) {
  if (!bytes) return "failed: " + bytes.error().message;
  return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
}

const std::string long_text = std::string(5000, 'a') + "bcd" + std::string(5000, 'e');

// Three chunks of different kinds; the second has a stream of each coding.
void write_three_chunks(chunk_writer& writer) {
  const stream_source first[] = {{1, bytes_of("first")}};
  const std::string same(1000, 'x');
  const stream_source second[] = {
      {1, bytes_of("short")}, {2, bytes_of(long_text)}, {3, bytes_of(same)}, {4, {}}};
  const stream_source third[] = {{7, bytes_of("third")}};
  ASSERT_TRUE(writer.append(chunk_kind::schema, 0, 1, first));
  ASSERT_TRUE(writer.append(chunk_kind::calls, 0, 4, second));
  ASSERT_TRUE(writer.append(chunk_kind::blobs, 0, 1, third));
}

TEST(chunk_file, streams_come_back_as_they_were) {
  const auto file = chunk_file::parse(own_bytes(written_file(write_three_chunks)));
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->damage().empty());
  ASSERT_EQ(file->chunks().size(), 3u);
  const auto second = file->load(file->chunks()[1]);
  ASSERT_TRUE(second);
  EXPECT_EQ(text_of(second->decode(1, 100)), "short");
  EXPECT_EQ(text_of(second->decode(2, 20000)), long_text);
  EXPECT_EQ(text_of(second->decode(3, 2000)), std::string(1000, 'x'));
  EXPECT_EQ(text_of(second->decode(4, 0)), "");
  EXPECT_FALSE(second->decode(5, 100)) << "there is no such stream";
  EXPECT_FALSE(second->decode(2, 100)) << "more than the caller is ready for";
}

TEST(chunk_file, anything_else_is_not_a_trace) {
  EXPECT_FALSE(chunk_file::parse({}));
  EXPECT_FALSE(chunk_file::parse(own_bytes(std::vector<std::byte>(100))));
  EXPECT_FALSE(chunk_file::open("/"));
  EXPECT_FALSE(chunk_file::open("/no/such/file"));
  EXPECT_FALSE(chunk_file::open("/dev/null"));
}

TEST(chunk_file, newer_version_is_refused_by_name) {
  auto bytes = written_file(write_three_chunks);
  bytes[8] = std::byte{2};
  const auto file = chunk_file::parse(own_bytes(bytes));
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("version 2"), std::string::npos) << file.error().message;
}

TEST(chunk_file, unfinished_file_has_all_its_chunks_and_says_that_it_is_cut) {
  const auto file = chunk_file::parse(own_bytes(written_file(write_three_chunks, false)));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->chunks().size(), 3u);
  ASSERT_EQ(file->damage().size(), 1u);
  EXPECT_NE(file->damage()[0].what.find("is cut"), std::string::npos) << file->damage()[0].what;
}

TEST(chunk_file, file_cut_at_any_byte_opens_up_to_the_cut) {
  const auto whole = written_file(write_three_chunks);
  size_t most_chunks = 0;
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto file = chunk_file::parse(own_bytes({whole.begin(), whole.begin() + long(size)}));
    ASSERT_EQ(file.has_value(), size >= file_header_bytes) << "cut at " << size;
    if (!file) continue;
    EXPECT_FALSE(file->damage().empty()) << "cut at " << size;
    EXPECT_GE(file->chunks().size(), most_chunks) << "cut at " << size;
    most_chunks = file->chunks().size();
    for (const auto& each : file->chunks())
      EXPECT_TRUE(file->load(each)) << "cut at " << size << ": " << each.offset;
  }
  EXPECT_EQ(most_chunks, 3u);
}

TEST(chunk_file, no_flipped_byte_goes_unnoticed) {
  const auto whole = written_file(write_three_chunks);
  for (size_t i = 12; i < whole.size(); ++i) {
    auto bytes = whole;
    bytes[i] ^= std::byte{0x10};
    const auto file = chunk_file::parse(own_bytes(bytes));
    ASSERT_TRUE(file) << "byte " << i;
    size_t loaded = 0;
    for (const auto& each : file->chunks()) loaded += file->load(each).has_value();
    const bool in_padding = file->damage().empty() && loaded == 3;
    if (in_padding) {
      EXPECT_EQ(whole[i], std::byte{0}) << "byte " << i;
    }
    EXPECT_GE(loaded, 2u) << "byte " << i << " damages more than its chunk";
  }
}

TEST(chunk_file, chunk_behind_a_damaged_one_is_found_without_the_index) {
  auto bytes = written_file(write_three_chunks, false);
  bytes[file_header_bytes] = std::byte{'?'};
  const auto file = chunk_file::parse(own_bytes(bytes));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->chunks().size(), 2u);
  EXPECT_EQ(file->damage().size(), 2u);
}

TEST(chunk_file, trace_kept_inside_a_trace_is_not_mistaken_for_chunks) {
  const auto inner = written_file(write_three_chunks);
  auto bytes = written_file(
      [&](chunk_writer& writer) {
        const stream_source streams[] = {{1, inner}};
        ASSERT_TRUE(writer.append(chunk_kind::blobs, 0, 1, streams));
      },
      false);
  bytes[file_header_bytes] = std::byte{'?'};
  const auto file = chunk_file::parse(own_bytes(bytes));
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->chunks().empty());
}

TEST(chunk_file, full_disk_is_an_error_and_not_a_crash) {
  const int full = ::open("/dev/full", O_WRONLY);
  if (full < 0) GTEST_SKIP() << "no /dev/full here";
  const auto writer = chunk_writer::begin(full, 1);
  EXPECT_FALSE(writer);
  close(full);
}

}  // namespace
}  // namespace zevent::trace
