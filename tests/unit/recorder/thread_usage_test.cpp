#include "recorder/thread_usage.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <thread>

#include "api/model.hpp"
#include "recorder/tick_clock.hpp"
#include "recording_process.hpp"

namespace zevent::recorder {
namespace {

void sleep_a_moment() {
  const timespec moment{0, 1'000'000};
  nanosleep(&moment, nullptr);
}

void touch_pages(size_t pages) {
  const size_t bytes = pages * 4096;
  auto* memory = static_cast<volatile char*>(
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  madvise(const_cast<char*>(memory), bytes, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < bytes; i += 4096) memory[i] = 1;
  munmap(const_cast<char*>(memory), bytes);
}

// What a hook does after a call that was slow.
void note(const call& open, uint64_t duration = this_thread_log.slow_ticks()) {
  this_thread_log.note_usage(*open.record, open.position, open.start, duration);
}

uint16_t index_of(std::string_view function) {
  return api::builtin_model().index_of(*api::builtin_model().find_function(function));
}

class ThreadUsage : public RecorderLog {};

TEST_F(ThreadUsage, TellsWhatAThreadDidDuringASlowCall) {
  run([] {
    make_call(1);
    this_thread_log.refresh_usage();
    const call slow = begin_call(2);
    sleep_a_moment();
    touch_pages(64);
    note(slow, 100 * this_thread_log.slow_ticks());
    end_call(slow, 0);
  });
  const auto part = only_part();
  EXPECT_TRUE(part.faults.empty());
  ASSERT_EQ(part.call_count(), 2u);
  ASSERT_EQ(part.usage.size(), 1u);
  const auto& slow = part.calls.at(1)[1];
  const auto& usage = part.usage.front();
  EXPECT_EQ(usage.call, slow.position);
  EXPECT_LE(usage.from, slow.start);
  EXPECT_GT(usage.until, slow.start);
  EXPECT_GE(usage.voluntary_switches, 1u) << "it slept";
  EXPECT_GE(usage.minor_faults, 64u);
  EXPECT_GT(usage.processor_ns, 0u);
  EXPECT_GT(usage.processors, 0u);
  EXPECT_GT(usage.runnable_tasks, 0u);
  const bool kernel_tells = access("/proc/thread-self/schedstat", R_OK) == 0;
  EXPECT_EQ((usage.header.flags & recording::usage_has_run_delay) != 0, kernel_tells);
}

TEST_F(ThreadUsage, LeavesAWaitAloneThatIsNotLong) {
  run([] {
    const auto wait_forever = begin_call(UINT64_MAX, index_of("zeEventHostSynchronize"));
    note(wait_forever);
    end_call(wait_forever, 0);
    const auto long_wait = begin_call(UINT64_MAX, index_of("zeEventHostSynchronize"));
    note(long_wait, 100 * this_thread_log.slow_ticks());
    end_call(long_wait, 0);
    const auto poll = begin_call(0, index_of("zeEventHostSynchronize"));
    note(poll);
    end_call(poll, 0);
  });
  const auto part = only_part();
  ASSERT_EQ(part.usage.size(), 2u);
  EXPECT_EQ(part.usage[0].call, part.calls.at(1)[1].position);
  EXPECT_EQ(part.usage[1].call, part.calls.at(1)[2].position);
}

// A program of slow calls and nothing else does not become slower by half.
TEST_F(ThreadUsage, LooksAfterSlowCallsForAShareOfTheTime) {
  constexpr uint64_t count = 20'000;
  run([] {
    advance_clocks_by_looks(1000);
    for (uint64_t i = 0; i < count; ++i) {
      const call slow = begin_call(i);
      note(slow);
      end_call(slow, 0);
    }
  });
  const auto part = only_part();
  EXPECT_TRUE(part.faults.empty());
  EXPECT_EQ(part.call_count(), count);
  EXPECT_GE(part.usage.size(), 1u);
  EXPECT_LT(part.usage.size(), count / 4);
}

TEST_F(ThreadUsage, DropsTheNoteOfACallThatAnotherOneInterrupted) {
  run([] {
    const call outer = begin_call(1);
    const call inner = begin_call(2);
    note(inner);
    end_call(inner, 0);
    note(outer);
    end_call(outer, 0);
  });
  const auto part = only_part();
  ASSERT_EQ(part.usage.size(), 1u);
  EXPECT_EQ(part.usage[0].call, part.calls.at(1)[1].position);
}

TEST_F(ThreadUsage, BeginsAnewInTheChildOfAFork) {
  const int status = run([] {
    make_call(1);
    const pid_t child = fork();
    const call slow = begin_call(2);
    note(slow);
    end_call(slow, 0);
    if (child == 0) std::_Exit(0);
    int ended = 0;
    waitpid(child, &ended, 0);
  });
  EXPECT_EQ(status, 0);
  const auto paths = part_paths(parts());
  ASSERT_EQ(paths.size(), 2u);
  for (const auto& path : paths) {
    const auto part = read_part_file(path);
    EXPECT_TRUE(part.faults.empty());
    EXPECT_EQ(part.usage.size(), 1u) << path;
  }
}

// The exit status says what was wrong.
TEST_F(ThreadUsage, DoesWithoutDescriptorsAndLeavesErrnoAlone) {
  const int status = run([] {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_NOFILE, &none);
    errno = ENOSPC;
    const auto usage = read_thread_usage();
    if (errno != ENOSPC) std::_Exit(1);
    if (usage.has_run_delay) std::_Exit(2);
    if (usage.processor_ns == 0 || usage.ticks == 0) std::_Exit(3);
    if (read_machine_load().runnable_tasks != 0) std::_Exit(4);
  });
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// A thread that lives until it is told otherwise.
class idle_thread {
 public:
  idle_thread()
      : thread_([this] {
          std::unique_lock lock(mutex_);
          is_there_ = true;
          changed_.notify_all();
          changed_.wait(lock, [this] { return is_done_; });
        }) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_there_; });
  }
  ~idle_thread() {
    {
      const std::lock_guard lock(mutex_);
      is_done_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool is_there_ = false, is_done_ = false;
  std::thread thread_;
};

TEST(OtherThreads, AreComparedWithTheScanBefore) {
  if (access("/proc/self/task", R_OK) != 0 || access("/proc/self/schedstat", R_OK) != 0)
    GTEST_SKIP() << "the kernel does not tell";
  const idle_thread other;
  other_threads all(estimate_ticks_per_second());
  EXPECT_FALSE(all.read(ticks())) << "there is no scan to compare with";
  const uint64_t first = ticks();
  all.refresh(first);
  const auto since = all.read(ticks());
  ASSERT_TRUE(since);
  EXPECT_EQ(since->since, first);
  EXPECT_GE(since->threads, 1u);
}

TEST(OtherThreads, AreLookedAtForAShareOfTheTime) {
  other_threads all(estimate_ticks_per_second());
  all.refresh(ticks());
  int scans = 0;
  while (scans < 100'000 && all.read(ticks())) ++scans;
  EXPECT_LT(scans, 100'000) << "the time that scans may take is spent some time";
}

}  // namespace
}  // namespace zevent::recorder
