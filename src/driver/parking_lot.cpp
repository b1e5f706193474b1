#include "driver/parking_lot.hpp"

#include <algorithm>
#include <vector>

#include "driver/engine_thread.hpp"
#include "driver/made_with_driver.hpp"
#include "driver/stream.hpp"

namespace zevent::driver {
namespace {

constexpr uint64_t first_check_ns = 20'000;
constexpr uint64_t slowest_check_ns = 500'000;

// Whether the other side of a wait still lives is looked at once in so many polls.
constexpr uint32_t polls_per_abandonment_check = 100;

void resume_all(parking_lot::place* released) {
  while (released != nullptr) {
    stream& freed = *released->occupant;
    released = released->next;
    freed.resume();
  }
}

// Those of high priority first, so that the others find them ready and let them pass.
void release_all(parking_lot::place* released) {
  parking_lot::place* first = nullptr;
  parking_lot::place* second = nullptr;
  parking_lot::place** end_of_first = &first;
  parking_lot::place** end_of_second = &second;
  for (; released != nullptr; released = released->next) {
    auto& end = released->occupant->priority() == ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH
                    ? end_of_first
                    : end_of_second;
    *end = released;
    end = &released->next;
  }
  *end_of_first = nullptr;
  *end_of_second = nullptr;
  resume_all(first);
  resume_all(second);
}

}  // namespace

parking_lot& parking_lot::instance() {
  static auto* lot = new parking_lot;
  return *lot;
}

const made_with_driver only_lot([] { parking_lot::instance(); });

parking_lot::parking_lot() {
  run_in_child_of_fork([] { instance().forget_after_fork(); });
}

parking_lot::bucket& parking_lot::bucket_of(const std::atomic<uint64_t>* value) {
  return buckets_[(reinterpret_cast<uintptr_t>(value) >> 4) % bucket_count];
}

bool parking_lot::park(stream& parked, const wait_point& point, abandonment* check) {
  bucket& home = bucket_of(point.value);
  const std::lock_guard lock(home.mutex);
  if (point.cell != nullptr) {
    point.cell->waiters.fetch_or(sync_cell::stream_waits, std::memory_order_seq_cst);
  }
  // A raise that came before the bit was set is seen here; a later one sees the bit and then waits
  // for the lock.
  if (point.value->load(std::memory_order_seq_cst) >= point.target) return false;
  place& own = parked.parking_place();
  own = {&parked, point, check, home.first};
  home.first = &own;
  if (own.is_polled()) count_polled(1);
  return true;
}

void parking_lot::unpark(sync_cell& cell) {
  bucket& home = bucket_of(&cell.value);
  place* released = nullptr;
  {
    const std::lock_guard lock(home.mutex);
    bool others_wait = false;
    for (place** link = &home.first; *link != nullptr;) {
      place& candidate = **link;
      if (candidate.point.cell == &cell && candidate.point.is_reached()) {
        if (candidate.is_polled()) count_polled(-1);
        *link = candidate.next;
        candidate.next = released;
        released = &candidate;
      } else {
        others_wait |= candidate.point.cell == &cell;
        link = &candidate.next;
      }
    }
    if (!others_wait) cell.waiters.fetch_and(~sync_cell::stream_waits, std::memory_order_seq_cst);
  }
  release_all(released);
}

void parking_lot::count_polled(int change) {
  polled_.fetch_add(static_cast<uint32_t>(change), std::memory_order_seq_cst);
  if (change < 0) return;
  if (!poller_runs_.exchange(true, std::memory_order_acq_rel)) {
    start_engine_thread("zevent-poll", [this] { poll_forever(); });
  }
  futex_wake(polled_, futex_scope::process);
}

void parking_lot::poll_bucket(bucket& home, bool check_abandonment) {
  place* released = nullptr;
  std::vector<stream*> hopeless_ones;  // told of it without the lock, which others are taken before
  {
    const std::lock_guard lock(home.mutex);
    for (place** link = &home.first; *link != nullptr;) {
      place& candidate = **link;
      if (!candidate.is_polled()) {
        link = &candidate.next;
        continue;
      }
      const bool hopeless = check_abandonment && candidate.check != nullptr &&
                            candidate.check->is_abandoned() && !candidate.point.is_reached();
      if (hopeless) hopeless_ones.push_back(candidate.occupant);
      if (hopeless || candidate.point.is_reached()) {
        count_polled(-1);
        *link = candidate.next;
        candidate.next = released;
        released = &candidate;
      } else {
        link = &candidate.next;
      }
    }
  }
  for (stream* each : hopeless_ones) each->abandon();
  release_all(released);
}

void parking_lot::poll_forever() {
  uint64_t pause_ns = first_check_ns;
  uint32_t last_seen = 0;
  for (uint32_t round = 0;; ++round) {
    const uint32_t polled = polled_.load(std::memory_order_seq_cst);
    if (polled == 0) {
      futex_wait(polled_, 0, futex_scope::process);
      continue;
    }
    if (polled != last_seen) pause_ns = first_check_ns;
    last_seen = polled;
    const bool check = round % polls_per_abandonment_check == 0;
    for (bucket& home : buckets_) poll_bucket(home, check);
    sleep_until_memory_changes(pause_ns);
    pause_ns = std::min(pause_ns * 2, slowest_check_ns);
  }
}

// What was parked belongs to the parent's threads.
void parking_lot::forget_after_fork() {
  for (bucket& home : buckets_) home.first = nullptr;
  polled_ = 0;
  poller_runs_ = false;
}

}  // namespace zevent::driver
