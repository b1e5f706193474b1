#include "driver/sync_cell.hpp"

#include <sched.h>

#include <algorithm>
#include <optional>

#include "driver/chaos.hpp"
#include "driver/device_clock.hpp"
#include "driver/host_demand.hpp"
#include "driver/parking_lot.hpp"

namespace zevent::driver {
namespace {

// How long a sleeper goes without looking whether its wait has become pointless.
constexpr uint64_t abandonment_check_ns = 50'000'000;

// Memory of the user is polled: soon at first, then less often.
constexpr uint64_t first_poll_ns = 20'000;
constexpr uint64_t slowest_poll_ns = 500'000;

// The system wakes a sleeper some fifty microseconds late, and later when it is busy. Whoever waits
// for a given time sleeps for most of it and stays awake for its last part: a sixteenth of it, or
// this.
constexpr uint64_t longest_vigil_ns = 200'000;

// A wait for less has no time to sleep: it leaves the core to the engine once, and is over.
constexpr uint64_t shortest_sleep_ns = 1000;

// Some clients wait for long in a loop of such tiny waits, and would take a core from the kernels
// that they wait for: after so many in a row on one value, each sleeps for a moment. What is waited
// for ends the sleep.
constexpr uint32_t max_tiny_waits_awake = 256;
constexpr uint64_t tiny_sleep_ns = 20'000;

// The tiny waits of a thread that were in vain since it last waited for something else.
struct tiny_waits {
  const std::atomic<uint64_t>* value = nullptr;
  uint64_t target = 0;
  uint32_t count = 0;
};
thread_local constinit tiny_waits tiny_waits_in_vain{};

void relax_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Changes whenever the driver adds to memory of the user; those who poll such memory sleep on it.
constinit std::atomic<uint32_t> memory_changes{0};

void sleep_on_cell(const wait_point& point, uint64_t at_most_ns) {
  sync_cell& cell = *point.cell;
  const uint32_t sequence = cell.sequence.load(std::memory_order_acquire);
  cell.note_sleeper(point.target);
  if (cell.value.load(std::memory_order_seq_cst) >= point.target) return;
  futex_wait(cell.sequence, sequence, point.scope, at_most_ns);
}

void sleep_on_memory(const wait_point& point, uint64_t at_most_ns) {
  const uint32_t sequence = memory_changes.load(std::memory_order_seq_cst);
  if (point.is_reached()) return;
  futex_wait(memory_changes, sequence, futex_scope::process, at_most_ns);
}

void wait_tiny(const wait_point& point) {
  tiny_waits& before = tiny_waits_in_vain;
  if (before.value != point.value || before.target != point.target)
    before = {point.value, point.target, 0};
  if (point.cell == nullptr || before.count < max_tiny_waits_awake) {
    ++before.count;
    sched_yield();
  } else {
    sleep_on_cell(point, tiny_sleep_ns);
  }
  if (point.is_reached()) before = {};
}

host_wait_result wait_until_reached(const wait_point& point, uint64_t timeout_ns,
                                    abandonment& check) {
  if (point.is_reached()) return host_wait_result::reached;
  if (timeout_ns == 0) return host_wait_result::timed_out;

  const uint64_t start_ns = device_clock::host_now_ns();
  const uint64_t deadline_ns =
      timeout_ns > UINT64_MAX - start_ns ? UINT64_MAX : start_ns + timeout_ns;
  const uint64_t wakes_ns = deadline_ns - std::min(timeout_ns / 16, longest_vigil_ns);
  uint64_t next_check_ns = start_ns + abandonment_check_ns;
  uint64_t poll_ns = first_poll_ns;
  uint64_t now_ns = start_ns;
  while (!point.is_reached()) {
    if (now_ns >= deadline_ns) return host_wait_result::timed_out;
    if (now_ns >= next_check_ns) {
      if (check.is_abandoned()) {
        return point.is_reached() ? host_wait_result::reached : host_wait_result::abandoned;
      }
      next_check_ns = now_ns + abandonment_check_ns;
    }
    if (timeout_ns < shortest_sleep_ns) {
      wait_tiny(point);
    } else if (now_ns >= wakes_ns) {
      relax_cpu();
    } else {
      const uint64_t left_ns = std::min(wakes_ns, next_check_ns) - now_ns;
      if (point.cell != nullptr) {
        sleep_on_cell(point, left_ns);
      } else {
        sleep_on_memory(point, std::min(left_ns, poll_ns));
        poll_ns = std::min(poll_ns * 2, slowest_poll_ns);
      }
    }
    now_ns = device_clock::host_now_ns();
  }
  return host_wait_result::reached;
}

}  // namespace

void sync_cell::note_sleeper(uint64_t target) {
  constexpr uint64_t farthest = uint64_t{1} << 27;
  uint32_t before = waiters.load(std::memory_order_relaxed);
  uint32_t after = 0;
  do {
    const uint64_t now = value.load(std::memory_order_relaxed);
    const uint32_t own = target - now <= farthest ? mark_of(target) : any_value;
    after = own | host_waits | (before & stream_waits);
    if ((before & host_waits) == 0) continue;
    const int32_t ahead = distance(mark_of(now), before);
    if ((before & any_value) != 0 || ahead < 0) {  // a value has passed since it was noted
      after |= any_value;
    } else if (own != any_value && ahead < distance(mark_of(now), own)) {
      after = before;
    }
  } while (!waiters.compare_exchange_weak(before, after, std::memory_order_seq_cst));
}

void sync_cell::tell_waiters(uint64_t new_value, futex_scope scope) {
  const uint32_t told = waiters.load(std::memory_order_seq_cst);
  const bool is_due = (told & any_value) != 0 || distance(told, mark_of(new_value)) >= 0;
  if ((told & host_waits) != 0 && is_due) {
    // Who is noted in between has read the sequence before it changes, and does not sleep.
    waiters.fetch_and(stream_waits, std::memory_order_seq_cst);
    sequence.fetch_add(1, std::memory_order_seq_cst);
    futex_wake(sequence, scope);
  }
  if ((told & stream_waits) != 0) parking_lot::instance().unpark(*this);
}

void announce_memory_change() {
  memory_changes.fetch_add(1, std::memory_order_seq_cst);
  futex_wake(memory_changes, futex_scope::process);
}

void sleep_until_memory_changes(uint64_t at_most_ns) {
  futex_wait(memory_changes, memory_changes.load(std::memory_order_seq_cst), futex_scope::process,
             at_most_ns);
}

host_wait_result host_wait(const wait_point& point, uint64_t timeout_ns, abandonment& check) {
  if (!has_chaos()) return wait_until_reached(point, timeout_ns, check);
  host_demand& demand = host_demand::instance();
  host_wait_result result = host_wait_result::timed_out;
  {
    std::optional<host_demand::wait> wanted;
    if (timeout_ns > 0 && !point.is_reached()) {
      wanted.emplace(point);
    } else {
      demand.note_call();
    }
    result = wait_until_reached(point, timeout_ns, check);
  }
  // Who waits for short times again and again may never be met waiting.
  if (result == host_wait_result::timed_out) {
    demand.note_question(true, promised_values::subject_of(point));
  }
  return result;
}

}  // namespace zevent::driver
