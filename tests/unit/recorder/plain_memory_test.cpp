#include "recorder/plain_memory.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>

#include <cstdlib>
#include <memory>
#include <random>

#include "sanitizers.hpp"

namespace zevent::recorder {
namespace {

uint64_t number(const void* address) {
  return reinterpret_cast<uint64_t>(address);
}

TEST(PlainMemory, BlocksOfTheHeapAreAsLargeAsTheHeapSays) {
  if (ZEVENT_ADDRESS_SANITIZER || ZEVENT_THREAD_SANITIZER)
    GTEST_SKIP() << "the heap is the sanitizer's";
  for (const size_t bytes : {1u, 24u, 25u, 100u, 4096u, 100'000u, 1u << 20, 40u << 20}) {
    const std::unique_ptr<void, decltype(&std::free)> block(std::malloc(bytes), &std::free);
    const auto found = heap_block_at(number(block.get()));
    ASSERT_TRUE(found) << bytes;
    EXPECT_EQ(found->begin, number(block.get())) << bytes;
    EXPECT_EQ(found->size(), malloc_usable_size(block.get())) << bytes;
  }
  void* aligned = nullptr;
  ASSERT_EQ(posix_memalign(&aligned, 4096, 10'000), 0);
  const auto found = heap_block_at(number(aligned));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->size(), malloc_usable_size(aligned));
  std::free(aligned);
}

TEST(PlainMemory, WhatCannotBeReadIsNoBlock) {
  void* memory =
      mmap(nullptr, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  EXPECT_FALSE(heap_block_at(number(memory) + 64)) << "zeros are no header";
  ASSERT_EQ(mprotect(memory, page_bytes, PROT_NONE), 0);
  EXPECT_FALSE(heap_block_at(number(memory) + 64));
  EXPECT_FALSE(heap_block_at(number(memory) + page_bytes));
  EXPECT_FALSE(heap_block_at(0));
  EXPECT_FALSE(heap_block_at(16));
  EXPECT_FALSE(heap_block_at(UINT64_MAX - 15));
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) heap_block_at(random() & ~uint64_t{15});
  munmap(memory, 2 * page_bytes);
}

TEST(PlainMemory, AMappingIsKnownToItsEndFromItsBeginning) {
  // With a neighbour that is no part of it, whatever is mapped around.
  auto* memory = static_cast<std::byte*>(
      mmap(nullptr, 102 * page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(static_cast<void*>(memory), MAP_FAILED);
  std::byte* inner = memory + page_bytes;
  ASSERT_EQ(mprotect(inner, 100 * page_bytes, PROT_READ | PROT_WRITE), 0);
  EXPECT_EQ(writable_from(number(inner), page_bytes).size(), 100 * page_bytes);
  EXPECT_EQ(writable_from(number(inner) + 8, page_bytes).size(), page_bytes);
  EXPECT_EQ(writable_from(number(inner) + 100 * page_bytes - 8, page_bytes).size(), 8u);
  EXPECT_EQ(writable_from(number(memory), page_bytes).size(), 0u);
  munmap(memory, 102 * page_bytes);
}

}  // namespace
}  // namespace zevent::recorder
