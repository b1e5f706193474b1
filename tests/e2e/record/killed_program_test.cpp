// A program that is killed at any moment: every call that returned is in the recording as returned,
// the one that was under way as not returned, and nothing else is.

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <random>
#include <set>
#include <thread>

#include "event_program.hpp"
#include "recorded_child.hpp"

namespace zevent::recorder_test {
namespace {

using namespace std::chrono_literals;

constexpr uint32_t thread_count = 2;
constexpr size_t most_calls = 200'000;
constexpr uint32_t event_count = 4;
constexpr int kills_in_a_test = 50;

// Most are killed while they make calls, some while they start.
constexpr int longest_start_us = 6'000;
constexpr int longest_life_us = 1'000;
constexpr int killed_at_start_percent = 20;

// What a thread of the program notes for itself, in memory that outlives it: how many calls it has
// begun, how many have returned, and what came back.
struct thread_notes {
  std::atomic<uint64_t> begun;
  std::atomic<uint64_t> returned;
  uint32_t results[most_calls];
};

struct program_notes {
  std::atomic<bool> ready;
  ze_event_handle_t events[thread_count][event_count];
  thread_notes threads[thread_count];
};

class notes_memory {
 public:
  notes_memory() {
    void* memory = mmap(nullptr, sizeof(program_notes), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    notes_ = static_cast<program_notes*>(memory);
  }
  notes_memory(const notes_memory&) = delete;
  notes_memory& operator=(const notes_memory&) = delete;
  ~notes_memory() { munmap(notes_, sizeof(program_notes)); }
  program_notes* operator->() { return notes_; }
  program_notes& operator*() { return *notes_; }
  void clear() { madvise(notes_, sizeof(program_notes), MADV_REMOVE); }

 private:
  program_notes* notes_;
};

// The i-th call of a thread: which function, on which of its events.
struct planned_call {
  enum { query, signal, reset, synchronize } function;
  size_t event;
};

planned_call plan(uint64_t i) {
  return {static_cast<decltype(planned_call::function)>(i * 7 / 3 % 4), i * 5 / 2 % event_count};
}

ze_result_t make(const planned_call& call, const ze_event_handle_t* handles) {
  switch (call.function) {
    case planned_call::query:
      return zeEventQueryStatus(handles[call.event]);
    case planned_call::signal:
      return zeEventHostSignal(handles[call.event]);
    case planned_call::reset:
      return zeEventHostReset(handles[call.event]);
    case planned_call::synchronize:
      return zeEventHostSynchronize(handles[call.event], 0);
  }
  return ZE_RESULT_ERROR_UNKNOWN;
}

const char* name_of(const planned_call& call) {
  constexpr const char* names[] = {"zeEventQueryStatus", "zeEventHostSignal", "zeEventHostReset",
                                   "zeEventHostSynchronize"};
  return names[call.function];
}

void run_thread(program_notes& notes, size_t which) {
  thread_notes& own = notes.threads[which];
  for (uint64_t i = 0; i < most_calls; ++i) {
    const auto call = plan(i);
    own.begun.store(i + 1, std::memory_order_release);
    own.results[i] = static_cast<uint32_t>(make(call, notes.events[which]));
    own.returned.store(i + 1, std::memory_order_release);
  }
  pause();
}

void run_program(program_notes& notes) {
  const event_program program;
  for (uint32_t t = 0; t < thread_count; ++t)
    for (uint32_t e = 0; e < event_count; ++e)
      notes.events[t][e] = program.create_event(t * event_count + e);
  notes.ready.store(true, std::memory_order_release);
  std::thread second([&] { run_thread(notes, 1); });
  run_thread(notes, 0);
}

bool is_planned(const read_call& call, const ze_event_handle_t* handles) {
  static const std::set<uint16_t> functions = {
      function_index("zeEventQueryStatus"), function_index("zeEventHostSignal"),
      function_index("zeEventHostReset"), function_index("zeEventHostSynchronize")};
  return functions.contains(call.function) &&
         std::find(handles, handles + event_count, input_at<ze_event_handle_t>(call, 0)) !=
             handles + event_count;
}

class KilledProgram : public RecordedChild, public testing::WithParamInterface<uint32_t> {
 protected:
  // Kills the program at a random moment and compares; how many calls it had made.
  uint64_t kill_and_compare(std::mt19937& random);
  void wait_for_the_moment(std::mt19937& random);
  void compare(const read_part& part);
  void compare_thread(const std::vector<read_call>& calls, const thread_notes& own,
                      const ze_event_handle_t* handles);

  notes_memory notes_;
};

void KilledProgram::compare_thread(const std::vector<read_call>& calls, const thread_notes& own,
                                   const ze_event_handle_t* handles) {
  const uint64_t returned = own.returned.load();
  ASSERT_GE(calls.size(), returned);
  ASSERT_LE(calls.size(), own.begun.load());
  for (uint64_t i = 0; i < calls.size(); ++i) {
    const auto expected = plan(i);
    ASSERT_EQ(calls[i].function, function_index(name_of(expected))) << "call " << i;
    ASSERT_EQ(input_at<ze_event_handle_t>(calls[i], 0), handles[expected.event]) << "call " << i;
    if (i >= returned) continue;
    ASSERT_TRUE(calls[i].end.has_value()) << "call " << i << " of " << returned;
    ASSERT_EQ(calls[i].result, own.results[i]) << "call " << i;
  }
}

void KilledProgram::compare(const read_part& part) {
  ASSERT_EQ(part.faults, std::vector<std::string>());
  ASSERT_EQ(part.header.lost_calls, 0u);
  for (size_t t = 0; t < thread_count; ++t) {
    std::vector<read_call> own;
    for (const auto& [number, calls] : part.calls)
      std::copy_if(calls.begin(), calls.end(), std::back_inserter(own),
                   [&](const read_call& call) { return is_planned(call, notes_->events[t]); });
    compare_thread(own, notes_->threads[t], notes_->events[t]);
  }
}

void KilledProgram::wait_for_the_moment(std::mt19937& random) {
  const bool at_start = static_cast<int>(random() % 100) < killed_at_start_percent;
  // Some before the threads begin, most while they make their calls, however slow the machine is.
  const bool amid_calls = random() % 4 != 0;
  const auto is_time = [&] {
    return amid_calls ? notes_->threads[0].begun.load() > 0 : notes_->ready.load();
  };
  while (!at_start && !is_time()) std::this_thread::sleep_for(100us);
  const unsigned longest = at_start ? longest_start_us : longest_life_us;
  std::this_thread::sleep_for(std::chrono::microseconds(random() % longest));
}

uint64_t KilledProgram::kill_and_compare(std::mt19937& random) {
  const pid_t child = start([&] { run_program(*notes_); });
  wait_for_the_moment(random);
  kill(child, SIGKILL);
  const int status = wait_for(child);
  EXPECT_TRUE(WIFSIGNALED(status)) << "exit status " << WEXITSTATUS(status);
  for (const auto& part : parts()) {
    // Killed before it could say anything at all.
    if (part.header.magic != 0 && notes_->ready.load()) compare(part);
  }
  uint64_t calls = 0;
  for (const auto& own : notes_->threads) calls += own.returned.load();
  std::filesystem::remove_all(output() + recording::parts_suffix);
  notes_.clear();
  return calls;
}

TEST_P(KilledProgram, LeavesExactlyTheCallsItMade) {
  std::mt19937 random(GetParam());
  uint64_t calls = 0;
  for (int i = 0; i < kills_in_a_test && !HasFatalFailure(); ++i) calls += kill_and_compare(random);
  // Or else nothing was tested.
  EXPECT_GT(calls, 0u);
}

// The build splits a thousand kills into a quick test and a long one.
INSTANTIATE_TEST_SUITE_P(AtRandomMoments, KilledProgram,
                         testing::Range(FIRST_KILL_TEST, LAST_KILL_TEST + 1));

}  // namespace
}  // namespace zevent::recorder_test
