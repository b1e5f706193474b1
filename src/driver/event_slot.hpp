#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "driver/sync_cell.hpp"

namespace zevent::driver {

// When the command that signalled an event ran, by CLOCK_MONOTONIC. Relaxed: written before the
// signal, read after it.
struct event_times {
  std::atomic<uint64_t> start_ns{0};
  std::atomic<uint64_t> end_ns{0};
};

// Set by the process that shares an event when its device is lost: no signal will come any more.
// Relaxed: nothing is read on the strength of it.
struct loss_mark {
  std::atomic<uint32_t> value{0};

  bool is_set() const { return value.load(std::memory_order_relaxed) != 0; }
  void set() { value.store(1, std::memory_order_relaxed); }
};

// One event of a pool, in memory that other processes may map: layout fixed, no pointers.
//
//   +0   cell    value 0: not signalled, 1: signalled
//   +16  times
//   +32  lost    not 0: the exporter's device is lost, see loss_mark; only that of the first slot
//   is used +36  unused
struct alignas(64) event_slot {
  sync_cell cell;
  event_times times;
  loss_mark lost;
};
static_assert(sizeof(event_slot) == 64);

// A counter-based event that processes share, in memory that they all map. Signal number k (counted
// by `issued` as signals are appended) is complete when its place in the ring holds k. So each wait
// is for its own signal, even when signals of several lists complete in another order, as long as
// no more than the ring holds are in flight.
//
// Numbers start at name << name_shift, which stands for "no signal yet". The name is the event's
// own: memory that a later event uses has another one in it, and 0 while no event uses it. So
// whoever still holds a handle or a mapping of the former event can tell.
struct alignas(64) shared_counter {
  static constexpr uint64_t ring_size = 16;
  static constexpr unsigned name_shift = 40;

  explicit shared_counter(uint64_t name) : issued(name << name_shift) {}

  std::atomic<uint64_t> issued;
  loss_mark lost;
  std::array<sync_cell, ring_size> ring{};

  sync_cell& place_of(uint64_t number) { return ring[number % ring_size]; }

  uint64_t name() const { return name_of(issued.load(std::memory_order_acquire)); }

  static uint64_t name_of(uint64_t number) { return number >> name_shift; }
  static bool is_signal(uint64_t number) {
    return (number & ((uint64_t{1} << name_shift) - 1)) != 0;
  }

  static uint64_t unused_name() {
    static std::atomic<uint64_t> last{0};
    constexpr uint64_t names = (uint64_t{1} << (64 - name_shift)) - 1;  // 0 is none
    return last.fetch_add(1, std::memory_order_relaxed) % names + 1;
  }
};

}  // namespace zevent::driver
