// How much time a thread has had, on whatever machine.

#include "driver/thread_watch.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace zevent::driver::test {
namespace {

constexpr uint64_t a_while_ns = 20'000'000;

void let_pass(uint64_t time_ns) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(time_ns));
}

// A thread that does something until it is told to stop.
class other_thread {
 public:
  template <typename Step>
  explicit other_thread(Step step)
      : thread_([this, step] {
          id_ = gettid();
          while (!stops_) step();
        }) {
    while (id_ == 0) std::this_thread::yield();
  }
  ~other_thread() { stop(); }

  void stop() {
    stops_ = true;
    if (thread_.joinable()) thread_.join();
  }
  pid_t id() const { return id_; }
  pthread_t native() { return thread_.native_handle(); }

 private:
  std::atomic<bool> stops_ = false;
  std::atomic<pid_t> id_ = 0;
  std::thread thread_;
};

TEST(thread_watch, sleeper_has_all_the_time_that_passes) {
  other_thread sleeper([] { let_pass(100'000'000); });
  let_pass(a_while_ns);  // until it sleeps
  thread_watch watch(sleeper.id());
  let_pass(a_while_ns);
  EXPECT_GE(watch.had_ns(), a_while_ns);
}

TEST(thread_watch, worker_comes_to_have_had_time) {
  other_thread worker([] {});
  thread_watch watch(worker.id());
  while (watch.had_ns() < a_while_ns) std::this_thread::yield();
}

TEST(thread_watch, thread_that_is_gone_is_no_reason_to_wait) {
  other_thread gone([] {});
  thread_watch watch(gone.id());
  gone.stop();
  let_pass(a_while_ns);
  EXPECT_GE(watch.had_ns(), a_while_ns);
}

// Threads that share one processor with the one that is watched and leave it little.
class greedy_threads {
 public:
  explicit greedy_threads(const other_thread& watched) {
    cpu_set_t allowed;
    EXPECT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    int processor = 0;
    while (!CPU_ISSET(processor, &allowed)) ++processor;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    for (int i = 0; i < 3; ++i) threads_.push_back(std::make_unique<other_thread>([] {}));
    EXPECT_EQ(sched_setaffinity(watched.id(), sizeof one, &one), 0);
    for (const auto& each : threads_) {
      EXPECT_EQ(sched_setaffinity(each->id(), sizeof one, &one), 0);
    }
  }

 private:
  std::vector<std::unique_ptr<other_thread>> threads_;
};

TEST(thread_watch, thread_that_waits_for_a_processor_has_none) {
  other_thread starved([] {});
  const greedy_threads greedy(starved);
  ASSERT_EQ(setpriority(PRIO_PROCESS, static_cast<id_t>(starved.id()), 19), 0);

  const auto start = std::chrono::steady_clock::now();
  thread_watch watch(starved.id());
  uint64_t had_ns = 0;
  for (int i = 0; i < 20; ++i) {
    let_pass(a_while_ns / 2);
    had_ns = watch.had_ns();
  }
  const auto passed = std::chrono::steady_clock::now() - start;
  EXPECT_LT(had_ns, static_cast<uint64_t>(std::chrono::nanoseconds(passed).count()) / 2);
}

TEST(thread_watch, thread_that_yields_has_had_what_it_gives_away) {
  if (access("/proc/self/schedstat", R_OK) != 0) GTEST_SKIP() << "the system does not tell";
  other_thread modest([] { sched_yield(); });
  const greedy_threads greedy(modest);
  const auto processor_ns = [&] {
    timespec used{};
    clockid_t clock = 0;
    EXPECT_EQ(pthread_getcpuclockid(modest.native(), &clock), 0);
    EXPECT_EQ(clock_gettime(clock, &used), 0);
    return static_cast<uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(used.tv_nsec);
  };
  const uint64_t used_before_ns = processor_ns();
  thread_watch watch(modest.id());
  while (watch.had_ns() < a_while_ns) let_pass(a_while_ns / 20);
  EXPECT_LT(processor_ns() - used_before_ns, a_while_ns / 2);
}

}  // namespace
}  // namespace zevent::driver::test
