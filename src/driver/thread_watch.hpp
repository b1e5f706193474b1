#pragma once

#include <sys/types.h>

#include <cstdint>

namespace zevent::driver {

// What the system says of a thread at one moment.
struct thread_sample {
  char state = 0;             // as ps shows it; 0 when there is no such thread
  uint64_t taken_ns = 0;      // CLOCK_MONOTONIC
  uint64_t processor_ns = 0;  // used of a processor so far
  uint64_t turns = 0;         // how often it was given one; 0 where the system does not count that
};

// While the host's clock is stopped, every thread has slept until now.
thread_sample sample_thread(pid_t thread);

// How much of the time between two samples the thread has had: see thread_watch.
uint64_t scheduled_time_ns(const thread_sample& from, const thread_sample& to);

// How much time another thread of this process has had: time in which it ran, or slept because it
// wanted to. While it waits for a processor, or is stopped, it has none. So a thread that is to get
// a millisecond for something gets it on a machine that is busy with other things as well. One that
// looks at something and then yields gives away what it is given, and counts as having had it.
class thread_watch {
 public:
  explicit thread_watch(pid_t thread);

  pid_t thread() const { return thread_; }
  // Since the watch was made. Exact to the time between two calls.
  uint64_t had_ns();

 private:
  const pid_t thread_;
  uint64_t had_ns_ = 0;
  thread_sample last_;
};

}  // namespace zevent::driver
