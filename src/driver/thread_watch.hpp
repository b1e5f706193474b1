#pragma once

#include <sys/types.h>

#include <cstdint>

namespace zevent::driver {

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
  uint64_t seen_ns_;       // when it was last looked at
  uint64_t processor_ns_;  // what it had used of a processor then
  uint64_t turns_;         // how often it had been given one
};

}  // namespace zevent::driver
