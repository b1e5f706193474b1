#pragma once

#include <cstdint>
#include <mutex>

namespace zevent::driver {

// A mutex that a child of fork() finds unlocked: held across the fork by the thread that forks, so
// that what it guards is whole in the child too. For globals; they are never destroyed.
class fork_safe_mutex : public std::mutex {
 public:
  // Where locks are nested, the outer one has the lower rank: forking takes them in this order.
  enum class rank { outer, inner, heap, counters, parking, engine };

  explicit fork_safe_mutex(rank order);
};

// How many forks lie between the process that first used the driver and this one. What remembers
// another number than this was left in some state by threads that are not in this process.
uint32_t fork_generation();

// Runs in the child of every fork, with all fork_safe_mutexes held.
void run_in_child_of_fork(void (*action)());

}  // namespace zevent::driver
