#pragma once

#include <atomic>
#include <cstdint>

namespace zevent::driver {

class stream;

// The queues and immediate lists of one ordinal and index of a device. On hardware they share an
// engine, which takes up what was submitted first first. Nothing in the specification promises
// that, but programs that use a queue beside an immediate list come to rely on it, so plain runs
// keep it where it costs little: a queue that is about to start a command lets immediate lists of
// the same priority finish what they were given earlier, and the other way round, unless they are
// parked or too many. Nobody waits for long, since one may be spinning for the other. Among queues,
// and among immediate lists, no order is kept: threads that have one each would only wait for one
// another. Nor is it kept under chaos.
class submission_order {
 public:
  submission_order() = default;
  submission_order(const submission_order&) = delete;
  submission_order& operator=(const submission_order&) = delete;

  // The place of a new command among all that are submitted here.
  // Relaxed: a submission that comes before another is ordered before it by other means.
  uint64_t next_ticket() { return next_ticket_.fetch_add(1, std::memory_order_relaxed); }

  // One stream's part in the order.
  struct place {
    const stream* who = nullptr;
    bool is_queue = false;
    // Of the command that the stream works on. Sequentially consistent with waiters_: either the
    // stream sees who waits for it, or they see what it works on now.
    std::atomic<uint64_t> ticket{0};
    uint64_t overdue_ticket = 0;  // of a command that somebody has waited for long enough
    place* next = nullptr;        // in the list of those that are active
  };

  // From now on later commands of others let the stream pass, until it leaves.
  void enter(place& active, uint64_t ticket);
  void leave(place& active);

  // The stream is about to start the command with this ticket.
  void take_turn(place& active, uint64_t ticket);

 private:
  void forget_after_fork();
  place* earlier_than(const place& active, uint64_t ticket) const;
  void tell_change();
  std::atomic<uint32_t>& count_of(bool queues) { return queues ? queues_ : lists_; }

  std::atomic<uint64_t> next_ticket_{1};
  // How many are active; read without the lock by those who may be alone. Whoever was submitted
  // earlier had entered before; release/acquire: who finds them gone sees what they have done.
  std::atomic<uint32_t> queues_{0};
  std::atomic<uint32_t> lists_{0};
  std::atomic<uint32_t> changes_{0};  // futex word: somebody has left or started another command
  std::atomic<uint32_t> waiters_{0};

  // Guarded, like the places in the list, by one mutex for all devices, see the source.
  place* first_active_ = nullptr;
  uint32_t generation_ = 0;  // of the process that the list is of, see fork_safety.hpp
};

}  // namespace zevent::driver
