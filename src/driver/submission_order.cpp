#include "driver/submission_order.hpp"

#include <mutex>

#include "base/futex.hpp"
#include "driver/device_clock.hpp"
#include "driver/fork_safety.hpp"
#include "driver/made_with_driver.hpp"
#include "driver/stream.hpp"

namespace zevent::driver {
namespace {

// How long a command is waited for, once and by whomever.
constexpr uint64_t racing_call_patience_ns = 50'000'000;

// Guards the active streams of all devices: held for a few instructions only, and devices, unlike
// this, may be deleted.
fork_safe_mutex& active_mutex() {
  static auto* only = new fork_safe_mutex(fork_safe_mutex::rank::engine);
  return *only;
}

const made_with_driver guard_of_active([] { active_mutex(); });

const void* this_thread() {
  static thread_local char itself;
  return &itself;
}

}  // namespace

submission_order::turn submission_order::next_turn() {
  return {next_ticket_.fetch_add(1, std::memory_order_relaxed), this_thread()};
}

// The parent's streams are idle in the child of a fork. The caller holds the mutex.
void submission_order::forget_after_fork() {
  if (generation_ == fork_generation()) return;
  generation_ = fork_generation();
  first_active_ = nullptr;
  active_count_.store(0, std::memory_order_relaxed);
  waiters_.store(0, std::memory_order_relaxed);
}

// The caller holds the mutex.
submission_order::place* submission_order::earlier_than(const place& active,
                                                        const turn& next) const {
  for (place* each = first_active_; each != nullptr; each = each->next) {
    const uint64_t its_ticket = each->ticket.load(std::memory_order_seq_cst);
    if (each != &active && its_ticket < next.ticket && its_ticket != each->overdue_ticket &&
        each->submitter.load(std::memory_order_relaxed) == next.submitter &&
        each->who->priority() == active.who->priority()) {
      return each;
    }
  }
  return nullptr;
}

void submission_order::enter(place& active, const turn& first) {
  const std::lock_guard lock(active_mutex());
  forget_after_fork();
  active.submitter.store(first.submitter, std::memory_order_relaxed);
  active.ticket.store(first.ticket, std::memory_order_seq_cst);
  active.is_waiting = false;
  active.next = first_active_;
  first_active_ = &active;
  active_count_.fetch_add(1, std::memory_order_relaxed);
}

void submission_order::leave(place& active) {
  {
    const std::lock_guard lock(active_mutex());
    forget_after_fork();
    for (place** link = &first_active_; *link != nullptr; link = &(*link)->next) {
      if (*link != &active) continue;
      *link = active.next;
      active_count_.fetch_sub(1, std::memory_order_release);
      break;
    }
  }
  call_next(active.submitter.load(std::memory_order_relaxed));
}

// Of those that wait behind commands of the submitter only the first can go on; it calls the next.
void submission_order::call_next(const void* submitter) {
  if (waiters_.load(std::memory_order_seq_cst) == 0) return;
  const std::lock_guard lock(active_mutex());
  place* first = nullptr;
  for (place* each = first_active_; each != nullptr; each = each->next) {
    if (!each->is_waiting || each->submitter.load(std::memory_order_relaxed) != submitter) continue;
    if (first == nullptr || each->ticket.load(std::memory_order_relaxed) <
                                first->ticket.load(std::memory_order_relaxed)) {
      first = each;
    }
  }
  if (first == nullptr) return;
  first->bell.fetch_add(1, std::memory_order_seq_cst);
  futex_wake(first->bell, futex_scope::process);
}

void submission_order::take_turn(place& active, const turn& next) {
  const void* before = active.submitter.load(std::memory_order_relaxed);
  active.submitter.store(next.submitter, std::memory_order_relaxed);
  active.ticket.store(next.ticket, std::memory_order_seq_cst);
  call_next(before);
  if (active_count_.load(std::memory_order_acquire) <= 1) [[likely]]
    return;
  uint64_t deadline_ns = 0;
  for (;;) {
    const uint32_t heard = active.bell.load(std::memory_order_seq_cst);
    uint64_t now_ns = 0;
    {
      const std::lock_guard lock(active_mutex());
      place* earlier = earlier_than(active, next);
      // Once it is known as waiting, whoever is waited for calls; it may have gone on in between.
      if (earlier != nullptr && !active.is_waiting) {
        active.is_waiting = true;
        waiters_.fetch_add(1, std::memory_order_seq_cst);
        continue;
      }
      if (earlier == nullptr) {
        if (active.is_waiting) waiters_.fetch_sub(1, std::memory_order_seq_cst);
        active.is_waiting = false;
        return;
      }
      now_ns = device_clock::host_now_ns();
      if (deadline_ns == 0) deadline_ns = now_ns + racing_call_patience_ns;
      if (now_ns >= deadline_ns) {
        earlier->overdue_ticket = earlier->ticket.load(std::memory_order_relaxed);
        continue;
      }
    }
    futex_wait(active.bell, heard, futex_scope::process, deadline_ns - now_ns);
  }
}

}  // namespace zevent::driver
