// Who sleeps on a cell, and who is woken.

#include "driver/sync_cell.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace zevent::driver::test {
namespace {

constexpr uint64_t forever = UINT64_MAX;

class never final : public abandonment {
 public:
  bool is_abandoned() override { return false; }
};

host_wait_result wait_for(sync_cell& cell, uint64_t target, uint64_t timeout_ns = forever) {
  never check;
  return host_wait(wait_point::of(cell, target, futex_scope::process), timeout_ns, check);
}

// Returns when somebody sleeps there.
void meet_sleeper(const sync_cell& cell) {
  while ((cell.waiters.load() & sync_cell::host_waits) == 0) std::this_thread::yield();
}

TEST(sync_cell, sleeper_is_not_woken_before_its_value) {
  constexpr uint64_t target = 2000;
  sync_cell cell;
  std::thread sleeper([&] { EXPECT_EQ(wait_for(cell, target), host_wait_result::reached); });
  meet_sleeper(cell);
  const uint32_t before = cell.sequence;  // changes whenever a sleeper is woken
  for (uint64_t value = 1; value < target; ++value) cell.raise(value, futex_scope::process);
  EXPECT_EQ(cell.sequence, before);
  cell.raise(target, futex_scope::process);
  EXPECT_EQ(cell.sequence, before + 1);
  sleeper.join();
}

TEST(sync_cell, each_of_many_sleepers_is_woken_at_its_value) {
  constexpr uint64_t sleepers = 12, rounds = 50;
  sync_cell cell;
  std::vector<std::thread> all;
  for (uint64_t i = 0; i < sleepers; ++i) {
    all.emplace_back([&, i] {
      // In another order in each thread.
      for (uint64_t round = 0; round < rounds; ++round) {
        const uint64_t target = 1 + round * sleepers + (i * 7 + round) % sleepers;
        ASSERT_EQ(wait_for(cell, target), host_wait_result::reached);
        ASSERT_GE(cell.value.load(), target);
      }
    });
  }
  for (uint64_t value = 1; value <= sleepers * rounds; ++value) {
    if (value % 3 == 0) meet_sleeper(cell);
    cell.raise(value, futex_scope::process);
  }
  for (auto& each : all) each.join();
}

TEST(sync_cell, sleeper_for_a_value_very_far_away_is_woken_when_it_comes) {
  constexpr uint64_t target = uint64_t{5} << 40;
  sync_cell cell;
  std::thread sleeper([&] { EXPECT_EQ(wait_for(cell, target), host_wait_result::reached); });
  meet_sleeper(cell);
  cell.raise(target - 1, futex_scope::process);
  meet_sleeper(cell);
  cell.raise(target, futex_scope::process);
  sleeper.join();
}

TEST(sync_cell, near_sleeper_is_woken_although_a_far_one_came_first) {
  sync_cell cell;
  std::thread far([&] { EXPECT_EQ(wait_for(cell, 1000), host_wait_result::reached); });
  meet_sleeper(cell);
  const uint32_t marked = cell.waiters.load();
  std::thread near([&] { EXPECT_EQ(wait_for(cell, 1), host_wait_result::reached); });
  while (cell.waiters.load() == marked) std::this_thread::yield();
  cell.raise(1, futex_scope::process);
  near.join();
  cell.raise(1000, futex_scope::process);
  far.join();
}

// What it waited for stays noted, and may not keep others from being woken.
TEST(sync_cell, sleeper_that_gave_up_is_in_nobodys_way) {
  sync_cell cell;
  cell.value = 100;
  EXPECT_EQ(wait_for(cell, 150, 2'000'000), host_wait_result::timed_out);
  cell.value = 0;  // the cell is used for something else
  const uint32_t left = cell.waiters.load();
  std::thread sleeper([&] { EXPECT_EQ(wait_for(cell, 3), host_wait_result::reached); });
  while (cell.waiters.load() == left) std::this_thread::yield();
  for (uint64_t value = 1; value <= 3; ++value) cell.raise(value, futex_scope::process);
  sleeper.join();

  cell.value = 1000;  // the mark is behind
  std::thread other([&] { EXPECT_EQ(wait_for(cell, 1001), host_wait_result::reached); });
  meet_sleeper(cell);
  cell.raise(1001, futex_scope::process);
  other.join();
}

}  // namespace
}  // namespace zevent::driver::test
