#include "driver/thread_watch.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "driver/host_clock.hpp"

namespace zevent::driver {
namespace {

uint64_t read_clock_ns(clockid_t clock) {
  timespec now{};
  if (clock_gettime(clock, &now) != 0) return 0;
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// What pthread_getcpuclockid computes from a handle that must not outlive the thread. 0 when there
// is no such thread any more.
uint64_t processor_time_ns(pid_t thread) {
  constexpr clockid_t scheduler_clock_of_a_thread = 6;
  return read_clock_ns(static_cast<clockid_t>(~static_cast<uint32_t>(thread) << 3) |
                       scheduler_clock_of_a_thread);
}

constexpr size_t longest_status = 128;

// The beginning of a file of the thread's in /proc; empty when it cannot be read.
std::array<char, longest_status> read_status(pid_t thread, const char* file_name) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/self/task/%d/%s", thread, file_name);
  std::array<char, longest_status> text{};
  const int file = open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  if (read(file, text.data(), text.size() - 1) < 0) text[0] = 0;
  close(file);
  return text;
}

// The letter that ps shows: R runs or waits for a processor, S sleeps. 0 when it cannot be told.
char state_of(pid_t thread) {
  const auto text = read_status(thread, "stat");
  // The name of the thread is in parentheses, and may have some itself.
  const char* const end_of_name = std::strrchr(text.data(), ')');
  return end_of_name != nullptr && end_of_name[1] == ' ' ? end_of_name[2] : '\0';
}

// How often it has been given a processor. 0 where the system does not count that.
uint64_t turns_of(pid_t thread) {
  const auto text = read_status(thread, "schedstat");
  const char* const last = std::strrchr(text.data(), ' ');
  return last != nullptr ? std::strtoull(last, nullptr, 10) : 0;
}

// What a turn is worth at least: less than the system gives a thread that does not yield.
constexpr uint64_t worth_of_turn_ns = 500'000;

uint64_t difference(uint64_t later, uint64_t earlier) {
  return later - std::min(later, earlier);
}

}  // namespace

thread_sample sample_thread(pid_t thread) {
  if (host_clock::is_stopped()) return {'S', host_clock::now_ns(), 0, 0};
  const char state = state_of(thread);
  return {state, read_clock_ns(CLOCK_MONOTONIC), processor_time_ns(thread), turns_of(thread)};
}

uint64_t scheduled_time_ns(const thread_sample& from, const thread_sample& to) {
  const uint64_t passed_ns = difference(to.taken_ns, from.taken_ns);
  switch (to.state) {
    case 'R':
      return std::max(difference(to.processor_ns, from.processor_ns),
                      std::min(difference(to.turns, from.turns) * worth_of_turn_ns, passed_ns));
    case 'D':  // waits for a disk: for memory, more often than not
    case 'T':
    case 't':
      return 0;
    default:
      return passed_ns;
  }
}

thread_watch::thread_watch(pid_t thread) : thread_(thread), last_(sample_thread(thread)) {}

uint64_t thread_watch::had_ns() {
  const thread_sample now = sample_thread(thread_);
  had_ns_ += scheduled_time_ns(last_, now);
  last_ = now;
  return had_ns_;
}

}  // namespace zevent::driver
