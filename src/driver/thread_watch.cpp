#include "driver/thread_watch.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <ctime>

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

// The letter that ps shows: R runs or waits for a processor, S sleeps. 0 when it cannot be told.
char state_of(pid_t thread) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/self/task/%d/stat", thread);
  const int file = open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::array<char, 128> text{};
  const ssize_t length = read(file, text.data(), text.size() - 1);
  close(file);
  if (length <= 0) return 0;
  // The name of the thread is in parentheses, and may have some itself.
  const char* const end_of_name = std::strrchr(text.data(), ')');
  return end_of_name != nullptr && end_of_name[1] == ' ' ? end_of_name[2] : '\0';
}

}  // namespace

thread_watch::thread_watch(pid_t thread)
    : thread_(thread),
      seen_ns_(read_clock_ns(CLOCK_MONOTONIC)),
      processor_ns_(processor_time_ns(thread)) {}

uint64_t thread_watch::had_ns() {
  const char state = state_of(thread_);
  const uint64_t now_ns = read_clock_ns(CLOCK_MONOTONIC);
  const uint64_t processor_ns = processor_time_ns(thread_);
  switch (state) {
    case 'R':
      had_ns_ += processor_ns - std::min(processor_ns, processor_ns_);
      break;
    case 'D':  // waits for a disk: for memory, more often than not
    case 'T':
    case 't':
      break;
    default:
      had_ns_ += now_ns - seen_ns_;
  }
  seen_ns_ = now_ns;
  processor_ns_ = processor_ns;
  return had_ns_;
}

}  // namespace zevent::driver
