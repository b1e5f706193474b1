#include "recorder/block_queue.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace zevent::recorder {
namespace {

TEST(BlockQueue, DoesWhatADequeDoesAndKeepsElementsInPlace) {
  std::mt19937 random(7);
  block_queue<int> queue;
  std::deque<int> oracle;
  std::deque<const int*> places;
  for (int i = 0; i < 20'000; ++i) {
    // Long stretches of mostly one and mostly the other.
    if (oracle.empty() || random() % 4 != (i / 3000 % 2 == 0 ? 0u : 1u) * 2 + random() % 2) {
      queue.emplace_back() = i;
      oracle.push_back(i);
      places.push_back(&queue[queue.size() - 1]);
    } else {
      for (size_t n = random() % 70; n > 0 && !oracle.empty(); --n) {
        EXPECT_EQ(queue.front(), oracle.front());
        queue.pop_front();
        oracle.pop_front();
        places.pop_front();
      }
    }
    ASSERT_EQ(queue.size(), oracle.size());
    ASSERT_EQ(queue.empty(), oracle.empty());
    if (oracle.empty()) continue;
    const size_t any = random() % oracle.size();
    ASSERT_EQ(queue[any], oracle[any]);
    ASSERT_EQ(&queue[any], places[any]);
  }
}

TEST(BlockQueue, ElementsAreFreshWhereOthersWereBefore) {
  block_queue<int> queue;
  for (int i = 0; i < 500; ++i) {
    EXPECT_EQ(queue.emplace_back(), 0);
    queue.front() = 9;
    queue.pop_front();
  }
  queue.emplace_back() = 3;
  queue.clear();
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.emplace_back(), 0);
}

}  // namespace
}  // namespace zevent::recorder
