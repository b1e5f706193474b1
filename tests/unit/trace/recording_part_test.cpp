#include "trace/recording_part.hpp"

#include <gtest/gtest.h>

#include "recording_builder.hpp"

namespace zevent::trace {
namespace {

using recording::returned_word;

recording_part parsed(recording_builder& file) {
  auto part = recording_part::parse(own_bytes(file.bytes()), "test");
  EXPECT_TRUE(part) << part.error().message;
  return std::move(*part);
}

std::vector<recorded_call> calls_of(const recording_part& part, size_t thread = 0) {
  recorded_calls reader(part.threads()[thread]);
  std::vector<recorded_call> all;
  while (auto next = reader.next()) all.push_back(std::move(*next));
  return all;
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(recording_part, call_is_put_together_from_its_records) {
  recording_builder file;
  file.segment();
  file.thread(1, 0, "worker");
  const auto first = file.call(7, 1000, returned_word(3, 50), "in");
  file.memory(first, 0x1234, 4, {{1}});
  file.completion(first, 1050, "out");
  file.call(8, 2000, returned_word(0, 10));
  const auto part = parsed(file);
  ASSERT_EQ(part.threads().size(), 1u);
  EXPECT_EQ(part.threads()[0].name, "worker");
  EXPECT_EQ(part.threads()[0].thread_id, 1001u);
  EXPECT_EQ(part.calls(), 2u);
  EXPECT_TRUE(part.damage().empty());

  const auto calls = calls_of(part);
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].function, 7);
  EXPECT_TRUE(calls[0].returned);
  EXPECT_EQ(calls[0].result, 3u);
  EXPECT_EQ(calls[0].start_ticks, 1000u);
  EXPECT_EQ(calls[0].end_ticks, 1050u);
  EXPECT_EQ(text_of(calls[0].inputs), "in");
  EXPECT_EQ(text_of(calls[0].outputs), "out");
  ASSERT_EQ(calls[0].memory.size(), 1u);
  EXPECT_EQ(calls[0].memory[0].address, 0x1234u);
  EXPECT_EQ(calls[1].end_ticks, 2010u);
  EXPECT_TRUE(calls[1].outputs.empty());
}

TEST(recording_part, call_under_way_is_there_as_not_returned) {
  recording_builder file;
  file.segment();
  file.thread(1, 0);
  file.call(1, 1000, 0, "hangs");
  const auto part = parsed(file);
  const auto calls = calls_of(part);
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_FALSE(calls[0].returned);
  EXPECT_EQ(text_of(calls[0].inputs), "hangs");
}

TEST(recording_part, death_between_completion_and_return_counts_as_not_returned) {
  recording_builder file;
  file.segment();
  file.thread(1, 0);
  const auto place = file.call(1, 1000, 0);
  file.completion(place, 1100, "out");
  const auto part = parsed(file);
  const auto calls = calls_of(part);
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_FALSE(calls[0].returned);
  EXPECT_TRUE(calls[0].outputs.empty());
}

TEST(recording_part, long_duration_is_taken_from_the_completion) {
  recording_builder file;
  file.segment();
  file.thread(1, 0);
  const auto place = file.call(1, 1000, returned_word(0, UINT64_MAX / 2));
  file.completion(place, 9'000'000'000'000);
  const auto part = parsed(file);
  const auto calls = calls_of(part);
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_TRUE(calls[0].returned);
  EXPECT_EQ(calls[0].end_ticks, 9'000'000'000'000u);
}

TEST(recording_part, calls_made_inside_of_a_call_leave_its_outputs_alone) {
  recording_builder file;
  file.segment(8);
  file.thread(1, 0);
  const auto outer = file.call(1, 1000, returned_word(0, 100'000));
  for (uint64_t i = 0; i < 500; ++i) {
    const auto inner = file.call(2, 1001 + i, returned_word(0, 1), {}, recording::call_is_injected);
    if (i % 2 == 0) file.completion(inner, 1002 + i, "inner");
  }
  file.completion(outer, 101'000, "outer");
  const auto part = parsed(file);
  const auto calls = calls_of(part);
  ASSERT_EQ(calls.size(), 501u);
  EXPECT_EQ(text_of(calls[0].outputs), "outer");
  EXPECT_TRUE(calls[1].injected);
  EXPECT_EQ(text_of(calls[1].outputs), "inner");
  EXPECT_EQ(text_of(calls[2].outputs), "");
}

TEST(recording_part, thread_goes_on_in_other_segments_and_segments_go_to_other_threads) {
  recording_builder file;
  file.segment();
  file.thread(2, 1);
  file.call(22, 5000, returned_word(0, 1));
  file.segment();
  file.thread(1, 0);
  file.call(11, 1000, returned_word(0, 1));
  file.thread(2, 0);
  const auto split = file.call(21, 3000, returned_word(0, 3000));
  file.segment();
  file.thread(2, 2);
  file.completion(split, 6000, "late");
  const auto part = parsed(file);
  ASSERT_EQ(part.threads().size(), 2u);
  const auto calls = calls_of(part, 0);
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].function, 21);
  EXPECT_EQ(text_of(calls[0].outputs), "late");
  EXPECT_EQ(calls[1].function, 22);
  EXPECT_EQ(calls_of(part, 1).size(), 1u);
}

TEST(recording_part, unused_units_are_stepped_over) {
  recording_builder file;
  file.segment();
  file.thread(1, 0);
  file.call(1, 1000, returned_word(0, 1));
  auto bytes = file.bytes();
  bytes.insert(bytes.begin() + sizeof(recording::file_header), recording_builder::unit_bytes,
               std::byte{0});
  const auto part = recording_part::parse(own_bytes(bytes), "test");
  ASSERT_TRUE(part);
  EXPECT_EQ(part->calls(), 1u);
}

TEST(recording_part, facts_counters_calibrations_and_blobs) {
  recording_builder file;
  file.segment();
  file.thread(0, 0);
  file.fact("executable", "/bin/app");
  file.counter("passed through zeNew", 12);
  file.calibration(10, 20, 30);
  file.blob({{9}}, "content");
  const auto part = parsed(file);
  ASSERT_EQ(part.facts().size(), 1u);
  EXPECT_EQ(part.facts()[0], std::pair(std::string("executable"), std::string("/bin/app")));
  ASSERT_EQ(part.counters().size(), 1u);
  EXPECT_EQ(part.counters()[0].second, 12u);
  ASSERT_EQ(part.calibrations().size(), 1u);
  ASSERT_EQ(part.blobs().size(), 1u);
  EXPECT_EQ(text_of(part.blobs()[0].content), "content");
}

TEST(recording_part, other_version_is_refused_by_name) {
  recording_builder file;
  file.header().version = 9;
  const auto part = recording_part::parse(own_bytes(file.bytes()), "test");
  ASSERT_FALSE(part);
  EXPECT_NE(part.error().message.find("version 9"), std::string::npos);
}

// A thread with a call at 1000 and its completion, and a call at 2000; the bytes of its segment.
std::vector<std::byte> reused_segment_bytes(uint64_t position) {
  recording_builder file;
  file.reused_segment(position);
  file.thread(1, 0);
  const auto first = file.call(1, 1000, returned_word(7, 100), "first");
  file.completion(first, 1100, "out");
  file.call(2, 2000, returned_word(9, 50), "second");
  const auto bytes = file.bytes();
  return {bytes.begin() + sizeof(recording::file_header), bytes.end()};
}

recording_builder packed_example() {
  const uint64_t again[] = {recording::like_template(5, 10, 21), recording::like_template(5, 0, 0)};
  recording_builder file;
  file.packed_area();
  file.block(1 << 20, reused_segment_bytes(1 << 20), 5, again);
  return file;
}

TEST(recording_part, packed_calls_are_like_their_template_but_for_their_times) {
  auto file = packed_example();
  const auto part = parsed(file);
  EXPECT_TRUE(part.damage().empty());
  const auto calls = calls_of(part);
  ASSERT_EQ(calls.size(), 4u);
  EXPECT_EQ(text_of(calls[0].outputs), "out");
  EXPECT_EQ(calls[1].start_ticks, 2000u);
  EXPECT_EQ(calls[1].end_ticks, 2050u);
  EXPECT_EQ(calls[2].function, 2);
  EXPECT_EQ(text_of(calls[2].inputs), "second");
  EXPECT_EQ(calls[2].result, 9u);
  EXPECT_EQ(calls[2].start_ticks, 2010u);
  EXPECT_EQ(calls[2].end_ticks, 2030u);
  EXPECT_EQ(calls[2].position, calls[1].position + 32);
  EXPECT_EQ(calls[3].start_ticks, 2010u);
}

TEST(recording_part, segment_and_the_block_packed_from_it_count_once) {
  recording_builder file;
  file.reused_segment(1 << 20);
  file.thread(1, 0);
  file.call(1, 1000, returned_word(7, 100), "first");
  file.packed_area();
  file.block(1 << 20, reused_segment_bytes(1 << 20), 0, {});
  file.reused_segment(2 << 20);
  file.thread(1, 1);
  file.call(3, 3000, returned_word(0, 1));
  const auto part = parsed(file);
  EXPECT_EQ(part.calls(), 3u);
  const auto calls = calls_of(part);
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[2].function, 3);
}

TEST(recording_part, block_that_is_not_whole_counts_only_where_its_segment_is_gone) {
  for (const bool segment_is_there : {true, false}) {
    recording_builder file;
    if (segment_is_there) {
      file.reused_segment(1 << 20);
      file.thread(1, 0);
      file.call(1, 1000, returned_word(7, 100), "first");
      file.call(2, 2000, returned_word(9, 50), "second");
    }
    file.packed_area();
    file.block(1 << 20, reused_segment_bytes(1 << 20), 0, {});
    auto bytes = file.bytes();
    // As if the process had been killed in the middle of the write.
    size_t last = bytes.size();
    while (bytes[last - 1] == std::byte{0}) --last;
    std::fill(bytes.begin() + long(last) - 40, bytes.end(), std::byte{0});
    const auto part = recording_part::parse(own_bytes(bytes), "test");
    ASSERT_TRUE(part);
    EXPECT_EQ(part->calls(), segment_is_there ? 2u : 1u);
    EXPECT_EQ(calls_of(*part).size(), segment_is_there ? 2u : 1u);
  }
}

TEST(recording_part, a_thread_record_takes_templates_away) {
  recording_builder inner;
  inner.reused_segment(1 << 20);
  inner.thread(1, 0);
  inner.call(2, 2000, returned_word(9, 50), "second");
  inner.thread(2, 0);
  const auto bytes = inner.bytes();
  const uint64_t again[] = {recording::like_template(5, 10, 21)};
  recording_builder file;
  file.packed_area();
  file.block(1 << 20, std::span(bytes).subspan(sizeof(recording::file_header)), 5, again);
  const auto part = parsed(file);
  EXPECT_EQ(part.calls(), 1u);
  EXPECT_FALSE(part.damage().empty());
}

TEST(recording_part, block_cut_at_any_byte_gives_every_call_before_the_cut) {
  auto file = packed_example();
  const auto whole = file.bytes();
  size_t most = 0;
  for (size_t size = sizeof(recording::file_header); size < whole.size(); ++size) {
    const auto part =
        recording_part::parse(own_bytes({whole.begin(), whole.begin() + long(size)}), "test");
    ASSERT_TRUE(part);
    const auto calls = part->threads().empty() ? std::vector<recorded_call>() : calls_of(*part);
    EXPECT_GE(calls.size(), most) << "cut at " << size;
    most = calls.size();
  }
  EXPECT_EQ(most, 4u);
}

TEST(recording_part, no_flipped_byte_of_a_block_leads_outside_of_the_file) {
  auto file = packed_example();
  const auto whole = file.bytes();
  for (size_t i = sizeof(recording::file_header); i < sizeof(recording::file_header) + 400; ++i) {
    for (const auto flip : {std::byte{0x01}, std::byte{0x04}, std::byte{0x80}, std::byte{0xff}}) {
      auto bytes = whole;
      bytes[i] ^= flip;
      const auto part = recording_part::parse(own_bytes(bytes), "test");
      if (!part) continue;
      for (size_t thread = 0; thread < part->threads().size(); ++thread)
        EXPECT_LE(calls_of(*part, thread).size(), 4u);
    }
  }
}

recording_builder example() {
  recording_builder file;
  file.segment();
  file.thread(1, 0);
  for (uint64_t i = 0; i < 10; ++i) {
    const auto place = file.call(1, 1000 + 10 * i, returned_word(0, 5), "inputs");
    file.completion(place, 1005 + 10 * i, "outputs");
  }
  return file;
}

TEST(recording_part, file_cut_at_any_byte_gives_every_call_before_the_cut) {
  auto file = example();
  const auto whole = file.bytes();
  size_t most = 0;
  for (size_t size = sizeof(recording::file_header); size < whole.size(); ++size) {
    const auto part =
        recording_part::parse(own_bytes({whole.begin(), whole.begin() + long(size)}), "test");
    ASSERT_TRUE(part);
    const auto calls = part->threads().empty() ? std::vector<recorded_call>() : calls_of(*part);
    EXPECT_GE(calls.size(), most) << "cut at " << size;
    most = calls.size();
  }
  EXPECT_EQ(most, 10u);
}

TEST(recording_part, no_flipped_byte_leads_outside_of_the_file) {
  auto file = example();
  const auto whole = file.bytes();
  for (size_t i = 0; i < sizeof(recording::file_header) + 1000; ++i) {
    for (const auto flip : {std::byte{0x01}, std::byte{0x80}, std::byte{0xff}}) {
      auto bytes = whole;
      bytes[i] ^= flip;
      const auto part = recording_part::parse(own_bytes(bytes), "test");
      if (!part) continue;
      for (size_t thread = 0; thread < part->threads().size(); ++thread)
        EXPECT_LE(calls_of(*part, thread).size(), 10u);
    }
  }
}

}  // namespace
}  // namespace zevent::trace
