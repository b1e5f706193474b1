#include "driver/submission_order.hpp"

#include <mutex>

#include "base/futex.hpp"
#include "driver/device_clock.hpp"
#include "driver/fork_safety.hpp"
#include "driver/stream.hpp"

namespace zevent::driver {
namespace {

// How long a command is waited for, once and by whomever.
constexpr uint64_t patience_ns = 50'000'000;

// More than so many are not waited for.
constexpr uint32_t crowd = 4;

// Guards the active streams of all devices: held for a few instructions only, and devices, unlike
// this, may be deleted.
fork_safe_mutex& active_mutex() {
  static auto* only = new fork_safe_mutex(fork_safe_mutex::rank::engine);
  return *only;
}

}  // namespace

// The parent's streams are idle in the child of a fork. The caller holds the mutex.
void submission_order::forget_after_fork() {
  if (generation_ == fork_generation()) return;
  generation_ = fork_generation();
  first_active_ = nullptr;
  queues_.store(0, std::memory_order_relaxed);
  lists_.store(0, std::memory_order_relaxed);
  waiters_.store(0, std::memory_order_relaxed);
}

// The caller holds the mutex.
submission_order::place* submission_order::earlier_than(const place& active,
                                                        uint64_t ticket) const {
  for (place* each = first_active_; each != nullptr; each = each->next) {
    const uint64_t its_ticket = each->ticket.load(std::memory_order_seq_cst);
    if (each->is_queue != active.is_queue && its_ticket < ticket &&
        its_ticket != each->overdue_ticket && each->who->priority() == active.who->priority()) {
      return each;
    }
  }
  return nullptr;
}

void submission_order::enter(place& active, uint64_t ticket) {
  const std::lock_guard lock(active_mutex());
  forget_after_fork();
  active.ticket.store(ticket, std::memory_order_seq_cst);
  active.next = first_active_;
  first_active_ = &active;
  count_of(active.is_queue).fetch_add(1, std::memory_order_relaxed);
}

void submission_order::leave(place& active) {
  {
    const std::lock_guard lock(active_mutex());
    forget_after_fork();
    for (place** link = &first_active_; *link != nullptr; link = &(*link)->next) {
      if (*link != &active) continue;
      *link = active.next;
      count_of(active.is_queue).fetch_sub(1, std::memory_order_release);
      break;
    }
  }
  tell_change();
}

void submission_order::tell_change() {
  if (waiters_.load(std::memory_order_seq_cst) == 0) return;
  changes_.fetch_add(1, std::memory_order_seq_cst);
  futex_wake(changes_, futex_scope::process);
}

void submission_order::take_turn(place& active, uint64_t ticket) {
  active.ticket.store(ticket, std::memory_order_seq_cst);
  tell_change();
  const uint32_t others = count_of(!active.is_queue).load(std::memory_order_acquire);
  if (others == 0 || others > crowd) [[likely]]
    return;
  uint64_t deadline_ns = 0;
  waiters_.fetch_add(1, std::memory_order_seq_cst);
  for (;;) {
    const uint32_t seen = changes_.load(std::memory_order_seq_cst);
    uint64_t now_ns = 0;
    {
      const std::lock_guard lock(active_mutex());
      place* earlier = earlier_than(active, ticket);
      if (earlier == nullptr) break;
      now_ns = device_clock::host_now_ns();
      if (deadline_ns == 0) deadline_ns = now_ns + patience_ns;
      if (now_ns >= deadline_ns) {
        earlier->overdue_ticket = earlier->ticket.load(std::memory_order_relaxed);
        continue;
      }
    }
    futex_wait(changes_, seen, futex_scope::process, deadline_ns - now_ns);
  }
  waiters_.fetch_sub(1, std::memory_order_seq_cst);
}

}  // namespace zevent::driver
