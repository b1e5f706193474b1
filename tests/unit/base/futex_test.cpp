#include "base/futex.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace zevent {
namespace {

TEST(futex, wait_returns_at_once_when_the_value_differs) {
  std::atomic<uint32_t> word{1};
  EXPECT_EQ(futex_wait(word, 0, futex_scope::process), futex_wait_result::value_changed);
}

TEST(futex, wait_ends_at_its_timeout) {
  std::atomic<uint32_t> word{0};
  EXPECT_EQ(futex_wait(word, 0, futex_scope::shared, 1'000'000), futex_wait_result::timed_out);
}

TEST(futex, wake_ends_a_wait_of_another_thread) {
  std::atomic<uint32_t> word{0};
  std::thread waiter([&] {
    while (word.load() == 0) futex_wait(word, 0, futex_scope::process);
  });
  word.store(1);
  futex_wake(word, futex_scope::process);
  waiter.join();
}

}  // namespace
}  // namespace zevent
