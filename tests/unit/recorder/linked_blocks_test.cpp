#include "recorder/linked_blocks.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "recorder/plain_memory.hpp"
#include "recorder/watched_memory.hpp"
#include "sanitizers.hpp"

namespace zevent::recorder {
namespace {

struct node {
  node* next = nullptr;
  std::array<uint64_t, 9> values{};
};

uint64_t number(const void* address) {
  return reinterpret_cast<uint64_t>(address);
}

class linked_memory : public testing::Test {
 protected:
  void SetUp() override {
    if (ZEVENT_ADDRESS_SANITIZER || ZEVENT_THREAD_SANITIZER)
      GTEST_SKIP() << "the heap is the sanitizer's";
  }

  void scan(const void* content, size_t bytes) {
    blocks_.scan(number(content), {static_cast<const std::byte*>(content), bytes});
  }

  // What a visit keeps is scanned, as the recorder does.
  std::vector<uint64_t> visit() {
    std::vector<uint64_t> kept;
    left_out_ = blocks_.visit(heap_block_at, [&](const address_range& block) {
      kept.push_back(block.begin);
      std::vector<std::byte> content(block.size());
      if (copy_memory(reinterpret_cast<const void*>(block.begin), content))
        blocks_.scan(block.begin, content);
    });
    return kept;
  }

  linked_blocks blocks_;
  uint64_t left_out_ = 0;
};

TEST_F(linked_memory, a_chain_is_followed_to_its_end_each_time) {
  std::vector<std::unique_ptr<node>> nodes;
  for (int i = 0; i < 10; ++i) nodes.push_back(std::make_unique<node>());
  for (size_t i = 0; i + 1 < nodes.size(); ++i) nodes[i]->next = nodes[i + 1].get();
  const node* head = nodes.front().get();
  EXPECT_TRUE(blocks_.empty());
  scan(&head, sizeof(head));
  EXPECT_EQ(visit().size(), 10u);
  EXPECT_EQ(visit().size(), 10u) << "once each, also when the addresses were seen again";
  EXPECT_EQ(left_out_, 0u);
}

TEST_F(linked_memory, a_ring_ends) {
  auto heap = std::make_unique<std::array<node, 2>>();
  (*heap)[0].next = heap->data();
  const node* head = heap->data();
  scan(&head, sizeof(head));
  EXPECT_EQ(visit(), std::vector{number(head)});
}

TEST_F(linked_memory, numbers_are_no_addresses) {
  std::vector<uint64_t> words;
  for (uint64_t i = 0; i < 100'000; ++i) words.push_back(i << (i % 40));
  scan(words.data(), words.size() * sizeof(words[0]));
  EXPECT_TRUE(visit().empty());
}

TEST_F(linked_memory, words_are_aligned_in_memory_not_in_the_content) {
  const auto target = std::make_unique<node>();
  std::array<const node*, 3> table = {nullptr, target.get(), nullptr};
  const auto* bytes = reinterpret_cast<const std::byte*>(table.data());
  blocks_.scan(number(bytes) + 3, {bytes + 3, sizeof(table) - 3});
  EXPECT_EQ(visit(), std::vector{number(target.get())});
}

TEST_F(linked_memory, what_goes_beyond_the_limit_is_counted) {
  std::vector<std::unique_ptr<node>> nodes;
  std::vector<const node*> table;
  for (size_t i = 0; i < linked_blocks::max_blocks + 5; ++i)
    table.push_back(nodes.emplace_back(std::make_unique<node>()).get());
  scan(table.data(), table.size() * sizeof(table[0]));
  EXPECT_EQ(visit().size(), linked_blocks::max_blocks);
  EXPECT_EQ(left_out_, 5u);
}

}  // namespace
}  // namespace zevent::recorder
