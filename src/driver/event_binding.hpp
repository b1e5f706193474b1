#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "driver/in_order_counter.hpp"
#include "driver/sync_cell.hpp"

namespace zevent::driver {

// What a counter-based event stands for at the moment: complete from creation, then the last append
// that signals it (EV-50, EV-51). Appends replace it; queries read it without a lock.
class event_binding {
 public:
  struct state {
    wait_point point;               // nothing to wait for: complete
    ref<in_order_counter> counter;  // keeps what `point` looks at
    bool moves = false;             // the target counts from the start of the counter's last run
  };

  void replace(state next);
  // Replaces it where it is bound to the counter of a clone.
  void follow(state next);
  // The command that the event is bound to will signal it no more: it stays with the last run, or
  // with nothing where the list has not run. Nothing happens where it is bound to something else.
  void withdraw(const in_order_counter& counter, uint64_t number, bool has_run);

  // For an append that waits: the state with its references.
  state current() const;

  // For queries: one look, without a lock. A counter that the event has just left may count for
  // somebody else already, but its memory is never unmapped.
  bool is_reached() const;
  // What that looks at; only to be compared.
  const std::atomic<uint64_t>* value() const { return value_.load(std::memory_order_acquire); }

 private:
  void publish(const state& next);  // to those who read without the lock

  // Even: stable. The fields are atomics so that a reader that meets a writer reads something,
  // finds the version changed, and reads again.
  std::atomic<uint32_t> version_{0};
  std::atomic<const std::atomic<uint64_t>*> value_{nullptr};
  std::atomic<uint64_t> target_{0};
  std::atomic<in_order_counter*> run_of_{nullptr};

  mutable std::mutex mutex_;  // guards state_ and serialises writers
  state state_;
};

}  // namespace zevent::driver
