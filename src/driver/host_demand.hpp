#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "driver/fork_safety.hpp"
#include "driver/promised_values.hpp"
#include "driver/sync_cell.hpp"

namespace zevent::driver {

// What the threads of the program want of the device, as far as the driver can see it: what they
// wait for, what they have asked for in vain, and when they last called. Kept only under chaos,
// where nothing is done that nobody wants.
class host_demand {
 public:
  static host_demand& instance();

  struct waiter {
    pid_t thread;
    uint64_t number;  // of the wait, counted over all threads
    uint32_t calls;   // of the thread, with the one that waits
  };

  // The calling thread waits for the point as long as this exists.
  class wait {
   public:
    explicit wait(const wait_point& point);
    ~wait();
    wait(const wait&) = delete;
    wait& operator=(const wait&) = delete;

   private:
    friend class host_demand;
    const wait_point& point_;
    waiter who_;
    wait* before_ = nullptr;
    wait* after_ = nullptr;
  };

  // The calling thread is in the driver, for whatever it may be.
  void note_call();
  // It has given the device something to do.
  void note_submission();
  // It has asked whether something is complete; in vain when it is not. `subject` is null where any
  // stream may bring it about (promised_values).
  void note_question(bool in_vain, promised_values::address subject);
  // A stream has been parked: its next command waits.
  void note_parked() { announce_change(); }
  // Other processes may wait, too, and cannot be seen.
  void note_unseen_waiters() { unseen_waiters_.store(true, std::memory_order_relaxed); }

  // Somebody waits for something that has not come. Whoever sleeps although it has come wants
  // nothing any more.
  bool is_waited_for();
  // For one of these; or a stream that is parked is.
  bool is_waited_for(const promised_values& promised);
  std::vector<waiter> waiters();
  // The thread has called again since it waited.
  bool is_back(const waiter& who) const;

  uint64_t vain_questions() const { return vain_questions_.load(std::memory_order_relaxed); }
  // The number of the last one that was about one of these, as far as their kinds can tell.
  uint64_t last_vain_question(const promised_values& promised) const;
  // Changes with every call and with the end of every wait.
  uint64_t calls() const { return calls_.load(std::memory_order_relaxed); }
  pid_t last_caller() const { return last_caller_.load(std::memory_order_relaxed); }
  bool may_have_unseen_waiters() const { return unseen_waiters_.load(std::memory_order_relaxed); }

  // Sleeps until somebody waits or asks who did not when `changes` was read, or for some time.
  uint32_t changes() const { return changes_.load(std::memory_order_seq_cst); }
  void sleep(uint32_t changes, uint64_t at_most_ns);

 private:
  host_demand();
  void forget_after_fork();
  void announce_change();
  void note_presence(pid_t thread);
  std::atomic<uint32_t>& calls_of(pid_t thread);

  // Relaxed, all of these: whoever sees one late holds commands back a little longer, and looks
  // again.
  std::atomic<uint64_t> vain_questions_{0};
  std::array<std::atomic<uint64_t>, promised_values::kinds> last_vain_question_{};
  std::atomic<uint64_t> calls_{0};
  std::atomic<pid_t> last_caller_{0};
  std::atomic<bool> unseen_waiters_{false};
  // Threads that share a place count as back too soon.
  std::array<std::atomic<uint32_t>, 256> calls_of_threads_{};

  // A futex word, changed after what it tells of. Sequentially consistent with sleepers_, like the
  // words of a sync_cell: either a change sees who sleeps, or they see the change.
  std::atomic<uint32_t> changes_{0};
  std::atomic<uint32_t> sleepers_{0};

  fork_safe_mutex mutex_{fork_safe_mutex::rank::engine};  // guards all below
  wait* first_ = nullptr;
  uint64_t waits_ = 0;
};

}  // namespace zevent::driver
