#pragma once

#include <atomic>
#include <cstdint>

namespace zevent::driver {

class stream;

// The queues and immediate lists of one ordinal and index of a device. On hardware they share an
// engine, which takes up what was submitted first first. Nothing in the specification promises
// that, but programs come to rely on it, so plain runs keep it where it costs little: a stream that
// is about to start a command lets others of the same priority finish what the same thread gave
// them earlier, unless they are parked. Nobody waits for long, since one may be spinning for the
// other. What different threads submit has no order, and under chaos none is kept.
class submission_order {
 public:
  submission_order() = default;
  submission_order(const submission_order&) = delete;
  submission_order& operator=(const submission_order&) = delete;

  // Which command of whom. Tickets count what is submitted here.
  struct turn {
    uint64_t ticket = 0;
    const void* submitter = nullptr;  // the thread
  };
  // Relaxed: a submission that comes before another is ordered before it by other means.
  turn next_turn();

  // One stream's part in the order.
  struct place {
    const stream* who = nullptr;
    // Of the command that the stream works on. The ticket is sequentially consistent with waiters_:
    // either the stream sees who waits for it, or they see what it works on now. Relaxed for the
    // submitter: whoever sees that of another command waits once more, or once less.
    std::atomic<uint64_t> ticket{0};
    std::atomic<const void*> submitter{nullptr};
    std::atomic<uint32_t> bell{0};  // futex word of a stream that waits
    // Guarded by the mutex, see the source.
    uint64_t overdue_ticket = 0;  // of a command that somebody has waited for long enough
    bool is_waiting = false;
    place* next = nullptr;  // in the list of those that are active
  };

  // From now on later commands of others let the stream pass, until it leaves.
  void enter(place& active, const turn& first);
  void leave(place& active);

  // The stream is about to start this command.
  void take_turn(place& active, const turn& next);

 private:
  void forget_after_fork();
  place* earlier_than(const place& active, const turn& next) const;
  void call_next(const void* submitter);

  std::atomic<uint64_t> next_ticket_{1};
  // How many are active; read without the lock by those who may be alone. Whoever was submitted
  // earlier had entered before; release/acquire: who finds them gone sees what they have done.
  std::atomic<uint32_t> active_count_{0};
  std::atomic<uint32_t> waiters_{0};

  // Guarded, like the places in the list, by one mutex for all devices, see the source.
  place* first_active_ = nullptr;
  uint32_t generation_ = 0;  // of the process that the list is of, see fork_safety.hpp
};

}  // namespace zevent::driver
