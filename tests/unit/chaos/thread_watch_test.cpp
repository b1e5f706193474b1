// How much time a thread has had, on whatever machine.

#include "driver/thread_watch.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "support/other_thread.hpp"

namespace zevent::driver::test {
namespace {

using zevent::test::calling_thread;

constexpr uint64_t ms = 1'000'000;

// Samples of a thread that is in some state, 100 ms apart.
uint64_t had_ns(char state, uint64_t processor_ns, uint64_t turns) {
  const thread_sample before = {'R', 7 * ms, 5 * ms, 3};
  const thread_sample now = {state, 107 * ms, 5 * ms + processor_ns, 3 + turns};
  return scheduled_time_ns(before, now);
}

TEST(scheduled_time, of_a_sleeper_is_all_that_passes) {
  EXPECT_EQ(had_ns('S', 0, 0), 100 * ms);
}

TEST(scheduled_time, of_a_worker_is_what_it_used_of_a_processor) {
  EXPECT_EQ(had_ns('R', 100 * ms, 0), 100 * ms);
  EXPECT_EQ(had_ns('R', 30 * ms, 0), 30 * ms);
  EXPECT_EQ(had_ns('R', 30 * ms, 4), 30 * ms);
}

TEST(scheduled_time, of_a_thread_that_waits_for_a_processor_is_none) {
  EXPECT_EQ(had_ns('R', 0, 0), 0u);
}

TEST(scheduled_time, of_a_thread_that_yields_includes_what_it_gives_away) {
  EXPECT_EQ(had_ns('R', 1 * ms, 20), 10 * ms);
  EXPECT_EQ(had_ns('R', 1 * ms, 1000), 100 * ms) << "no more than has passed";
}

TEST(scheduled_time, of_a_thread_that_waits_for_a_disk_or_is_stopped_is_none) {
  for (const char state : {'D', 'T', 't'}) EXPECT_EQ(had_ns(state, 0, 0), 0u) << state;
}

TEST(scheduled_time, of_a_thread_that_is_gone_is_all_that_passes) {
  const thread_sample before = {'R', 7 * ms, 5 * ms, 3};
  EXPECT_EQ(scheduled_time_ns(before, {0, 107 * ms, 0, 0}), 100 * ms);
}

// What the system says of real threads.

TEST(thread_sample, of_a_sleeper_says_that_it_sleeps) {
  std::atomic<bool> ends{false};
  {
    const calling_thread sleeper([&] { ends.wait(false); });
    EXPECT_TRUE(sleeper.blocks());
    EXPECT_EQ(sample_thread(sleeper.id()).state, 'S');
    ends = true;
    ends.notify_all();
  }
}

class running_thread : public ::testing::Test {
 protected:
  template <typename Step>
  void watch(Step step) {
    stepper_ = std::thread([this, step] {
      id_ = gettid();
      while (!ends_) step();
    });
    while (id_ == 0) std::this_thread::yield();
  }
  void end() {
    ends_ = true;
    if (stepper_.joinable()) stepper_.join();
  }
  void TearDown() override { end(); }

  std::atomic<bool> ends_{false};
  std::atomic<pid_t> id_{0};
  std::thread stepper_;
};

TEST_F(running_thread, says_that_it_runs_and_uses_more_and_more_of_a_processor) {
  watch([] {});
  while (sample_thread(id_).state != 'R') std::this_thread::yield();
  const auto before = sample_thread(id_);
  while (sample_thread(id_).processor_ns <= before.processor_ns) std::this_thread::yield();
}

TEST_F(running_thread, that_yields_gets_turn_after_turn) {
  if (access("/proc/self/schedstat", R_OK) != 0) GTEST_SKIP() << "the system does not tell";
  // Alone on a processor it would never be taken off it: this thread shares one with it.
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  int processor = 0;
  while (!CPU_ISSET(processor, &all)) ++processor;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  watch([] { sched_yield(); });
  const auto before = sample_thread(id_);
  while (sample_thread(id_).turns < before.turns + 10) std::this_thread::yield();
}

TEST_F(running_thread, comes_to_have_had_time) {
  watch([] {});
  thread_watch watched(id_);
  while (watched.had_ns() < 20 * ms) std::this_thread::yield();
}

TEST_F(running_thread, that_is_gone_is_no_reason_to_wait) {
  watch([] {});
  const pid_t id = id_;
  end();
  while (sample_thread(id).state != 0) std::this_thread::yield();
  thread_watch gone(id);
  while (gone.had_ns() < 20 * ms) std::this_thread::yield();
}

}  // namespace
}  // namespace zevent::driver::test
