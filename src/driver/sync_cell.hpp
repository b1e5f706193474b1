#pragma once

#include <atomic>
#include <cstdint>

#include "base/futex.hpp"

namespace zevent::driver {

// The one thing that anybody in the driver ever waits for: a number that reaches a target. A
// regular event is complete at 1; an in-order list counts its commands; a fence is like an event.
//
// Lives in memory that other processes may map, so it holds no pointers and its layout is fixed:
//
//   +0   value      what is waited for
//   +8   sequence   futex word, changed by every wake-up
//   +12  waiters    who must be told about a new value; 0 means that a signal is one store and one
//                   load, with no system call. With what the first of those who sleep waits
//                   for: who waits for the last of many commands is not woken by each
//
// The store of `value` and the load of `waiters` in raise(), and the store of `waiters` and the
// load of `value` in a waiter, are sequentially consistent: at least one side sees the other.
struct sync_cell {
  static constexpr uint32_t host_waits = 1;    // somebody sleeps on `sequence`
  static constexpr uint32_t stream_waits = 2;  // a stream is parked here, see parking_lot.hpp
  static constexpr uint32_t any_value = 4;     // whoever sleeps is to be woken by any value
  static constexpr uint32_t flags = host_waits | stream_waits | any_value;

  std::atomic<uint64_t> value{0};
  std::atomic<uint32_t> sequence{0};
  std::atomic<uint32_t> waiters{0};

  // Sets the value and wakes those who wait for it.
  void raise(uint64_t new_value, futex_scope scope) {
    value.store(new_value, std::memory_order_seq_cst);
    if (waiters.load(std::memory_order_seq_cst) != 0) tell_waiters(new_value, scope);
  }

  // To be called before a look at the value, and a sleep on `sequence` if that is not there yet.
  void note_sleeper(uint64_t target);

 private:
  // The bits above the flags are the lowest 29 of a value. Differences of two such are taken to be
  // less than 2^28.
  static uint32_t mark_of(uint64_t value) { return static_cast<uint32_t>(value) << 3; }
  static int32_t distance(uint32_t from, uint32_t to) {
    return static_cast<int32_t>((to & ~flags) - (from & ~flags));
  }

  void tell_waiters(uint64_t new_value, futex_scope scope);
};
static_assert(sizeof(sync_cell) == 16);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// A condition that a command or a host thread waits for: `*value >= target`.
struct wait_point {
  const std::atomic<uint64_t>* value = nullptr;  // null: nothing to wait for
  uint64_t target = 0;
  sync_cell* cell = nullptr;  // around *value; null for the user's own memory, which must be polled
  futex_scope scope = futex_scope::process;

  static wait_point of(sync_cell& cell, uint64_t target, futex_scope scope) {
    return {&cell.value, target, &cell, scope};
  }

  // Acquire: what was written before the signal is seen after it.
  bool is_reached() const {
    return value == nullptr || value->load(std::memory_order_acquire) >= target;
  }
};

// Why a host wait ended.
enum class host_wait_result { reached, timed_out, abandoned };

// Looked at now and then during a wait: true means that what is waited for can never come.
class abandonment {
 public:
  virtual bool is_abandoned() = 0;

 protected:
  ~abandonment() = default;
};

// Blocks the calling thread until the point is reached or `timeout_ns` has passed.
host_wait_result host_wait(const wait_point& point, uint64_t timeout_ns, abandonment& check);

// For values in the user's memory that the driver itself changes: tells those who poll at once.
void announce_memory_change();
// Sleeps until that, or until the time has passed.
void sleep_until_memory_changes(uint64_t at_most_ns);

}  // namespace zevent::driver
