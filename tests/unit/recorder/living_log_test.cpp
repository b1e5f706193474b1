// What a reader sees of a process that records at full speed, and of one that was killed at any
// moment while it packed segments: each thread's calls from the first one on, each once.

#include <signal.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <random>
#include <thread>
#include <vector>

#include "recording_process.hpp"
#include "trace/recording_part.hpp"

namespace zevent::recorder {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t threads = 4;
// One that waits for others, on a machine that is busy, does not fill the disk meanwhile.
constexpr uint64_t most_calls = 300'000;
// Some are packed into a word, some are there as they were.
constexpr uint64_t often_the_same = 64;

// In memory that outlives the process: how far each thread has come.
struct notes {
  std::atomic<uint64_t> begun[threads];
  std::atomic<uint64_t> returned[threads];
};

uint64_t input_at(uint64_t i) {
  return i % 3 == 0 ? i % often_the_same : i;
}

void make_calls(notes& said, uint64_t thread) {
  for (uint64_t i = 0; i < most_calls; ++i) {
    said.begun[thread].store(i + 1, std::memory_order_release);
    make_call(thread << 56 | input_at(i));
    said.returned[thread].store(i + 1, std::memory_order_release);
  }
  pause();
}

class LivingLog : public RecorderLog {
 protected:
  LivingLog() {
    void* memory =
        mmap(nullptr, sizeof(notes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    said_ = static_cast<notes*>(memory);
  }
  ~LivingLog() override { munmap(said_, sizeof(notes)); }

  pid_t start() {
    for (uint64_t t = 0; t < threads; ++t) said_->begun[t] = said_->returned[t] = 0;
    const pid_t child = fork();
    if (child == 0) {
      setenv("ZEVENT_RECORD", output().c_str(), 1);
      for (uint64_t t = 1; t < threads; ++t) std::thread(make_calls, std::ref(*said_), t).detach();
      make_calls(*said_, 0);
    }
    return child;
  }

  void kill_and_forget(pid_t child) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    std::filesystem::remove_all(parts());
  }

  bool all_have_returned(uint64_t calls) const {
    return std::all_of(std::begin(said_->returned), std::end(said_->returned),
                       [&](const auto& each) { return each >= calls; });
  }

  // Goes through the calls of the part; how many each thread has made.
  std::vector<uint64_t> read() {
    std::vector<uint64_t> made(threads);
    const auto paths = part_paths(parts());
    EXPECT_EQ(paths.size(), 1u);
    if (paths.empty()) return made;
    const auto part = trace::recording_part::open(paths.front());
    EXPECT_TRUE(part) << part.error().message;
    if (!part) return made;
    EXPECT_TRUE(part->damage().empty()) << part->damage().front();
    for (const auto& thread : part->threads()) {
      trace::recorded_calls calls(thread);
      for (uint64_t i = 0; const auto each = calls.next(); ++i) {
        uint64_t input = 0;
        EXPECT_EQ(each->inputs.size(), sizeof(input));
        std::memcpy(&input, each->inputs.data(), sizeof(input));
        if ((input & ~(uint64_t{0xff} << 56)) != input_at(i)) {
          ADD_FAILURE() << "call " << i << " of a thread has the input " << input;
          return made;
        }
        made[input >> 56] = i + 1;
      }
    }
    return made;
  }

  notes* said_;
};

TEST_F(LivingLog, IsReadWithEachCallOnceWhileItIsWritten) {
  for (uint64_t look = 0; look < 10 && !HasFailure(); ++look) {
    const pid_t child = start();
    while (!all_have_returned(1 + 3000 * look)) std::this_thread::sleep_for(100us);
    std::vector<uint64_t> before(threads);
    for (uint64_t t = 0; t < threads; ++t) before[t] = said_->returned[t];
    const auto made = read();
    for (uint64_t t = 0; t < threads; ++t) EXPECT_GE(made[t], before[t]) << "thread " << t;
    kill_and_forget(child);
  }
}

// Both readers say the same of what is left.
TEST_F(LivingLog, KilledWhileItPacksLosesNothing) {
  const char* wanted = std::getenv("ZEVENT_TEST_KILLS");
  const int kills = wanted != nullptr ? std::atoi(wanted) : 20;
  std::mt19937 random(1);
  for (int i = 0; i < kills && !HasFailure(); ++i) {
    const pid_t child = start();
    const uint64_t calls = random() % 30'000;
    while (!all_have_returned(calls)) std::this_thread::sleep_for(100us);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const auto made = read();
    const auto plainly_read = only_part();
    EXPECT_EQ(plainly_read.faults, std::vector<std::string>());
    EXPECT_EQ(plainly_read.header.lost_calls, 0u);
    uint64_t in_all = 0;
    for (uint64_t t = 0; t < threads; ++t) {
      EXPECT_GE(made[t], said_->returned[t]) << "thread " << t;
      EXPECT_LE(made[t], said_->begun[t]) << "thread " << t;
      in_all += made[t];
    }
    EXPECT_EQ(plainly_read.call_count(), in_all);
    std::filesystem::remove_all(parts());
  }
}

}  // namespace
}  // namespace zevent::recorder
