#include "trace/call_block.hpp"

#include <gtest/gtest.h>

#include <random>

#include "written_file.hpp"

namespace zevent::trace {
namespace {

struct example_call {
  call fixed;
  std::vector<std::byte> inputs, outputs;
};

std::vector<example_call> random_calls(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<example_call> calls(count);
  uint64_t now = random() % 1000;
  for (size_t i = 0; i < count; ++i) {
    auto& each = calls[i];
    now += random() % (random() % 50 == 0 ? 1'000'000'000 : 100);
    each.fixed = {call_number{i},
                  now,
                  random() % (random() % 50 == 0 ? 1'000'000'000'000 : 1000),
                  static_cast<uint32_t>(random() % 20),
                  static_cast<uint32_t>(random() % 3),
                  random() % 10 == 0 ? 0x78000004u : 0u,
                  static_cast<uint8_t>(random() % 4)};
    each.inputs.resize(each.fixed.function % 7 * 8 + random() % 3);
    each.outputs.resize(random() % 4 * each.fixed.function % 5);
    for (auto* bytes : {&each.inputs, &each.outputs})
      for (auto& byte : *bytes) byte = static_cast<std::byte>(random());
  }
  return calls;
}

chunk_file file_with(std::span<const example_call> calls) {
  auto file = chunk_file::parse(own_bytes(written_file([&](chunk_writer& writer) {
    call_block_writer block;
    for (const auto& each : calls) {
      block.add(each.fixed, {each.inputs, each.outputs});
      if (block.full()) {
        ASSERT_TRUE(block.write(writer));
      }
    }
    if (!block.empty()) {
      ASSERT_TRUE(block.write(writer));
    }
  })));
  EXPECT_TRUE(file);
  return std::move(*file);
}

constexpr call_block::limits enough{20, 3};

bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

TEST(call_block, calls_and_arguments_come_back_as_they_were) {
  const auto calls = random_calls(50'000, 7);
  const auto file = file_with(calls);
  ASSERT_GT(file.chunks().size(), 1u);
  size_t next = 0;
  for (const auto& entry : file.chunks()) {
    auto block = call_block::decode(*file.load(entry), entry, enough);
    ASSERT_TRUE(block) << block.error().message;
    ASSERT_TRUE(block->load_arguments());
    ASSERT_EQ(number_of(block->first()), next);
    for (size_t i = 0; i < block->size(); ++i, ++next) {
      const auto& expected = calls[next];
      const auto read = (*block)[i];
      ASSERT_EQ(read.number, expected.fixed.number);
      ASSERT_EQ(read.start_ns, expected.fixed.start_ns);
      ASSERT_EQ(read.duration_ns, expected.fixed.duration_ns);
      ASSERT_EQ(read.function, expected.fixed.function);
      ASSERT_EQ(read.thread, expected.fixed.thread);
      ASSERT_EQ(read.result, expected.fixed.result);
      ASSERT_EQ(read.flags, expected.fixed.flags);
      ASSERT_TRUE(same(block->arguments(i).inputs, expected.inputs)) << "call " << next;
      ASSERT_TRUE(same(block->arguments(i).outputs, expected.outputs)) << "call " << next;
    }
  }
  EXPECT_EQ(next, calls.size());
}

TEST(call_block, function_or_thread_that_does_not_exist_is_refused) {
  const auto calls = random_calls(100, 1);
  const auto file = file_with(calls);
  const auto& entry = file.chunks().front();
  const auto loaded = *file.load(entry);
  EXPECT_TRUE(call_block::decode(loaded, entry, enough));
  EXPECT_FALSE(call_block::decode(loaded, entry, {1, 3}));
  EXPECT_FALSE(call_block::decode(loaded, entry, {20, 1}));
}

TEST(call_block, count_that_does_not_fit_the_columns_is_refused) {
  const auto calls = random_calls(100, 1);
  const auto file = file_with(calls);
  auto entry = file.chunks().front();
  const auto loaded = *file.load(entry);
  for (const uint64_t items : {uint64_t{0}, uint64_t{99}, uint64_t{101}, UINT64_MAX}) {
    entry.items = items;
    EXPECT_FALSE(call_block::decode(loaded, entry, enough)) << items;
  }
}

}  // namespace
}  // namespace zevent::trace
