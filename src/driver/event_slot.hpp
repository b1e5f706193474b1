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

// One event of a pool, in memory that other processes may map: layout fixed, no pointers.
//
//   +0   cell    value 0: not signalled, 1: signalled
//   +16  times
//   +32  unused
struct alignas(64) event_slot {
  sync_cell cell;
  event_times times;
};
static_assert(sizeof(event_slot) == 64);

// A counter-based event that processes share, in memory that they all map. Signal number k (counted
// by `issued` as signals are appended) is complete when its place in the ring holds k. So each wait
// is for its own signal, even when signals of several lists complete in another order, as long as
// no more than the ring holds are in flight.
struct alignas(64) shared_counter {
  static constexpr uint64_t ring_size = 16;

  std::atomic<uint64_t> issued{0};
  std::array<sync_cell, ring_size> ring{};

  sync_cell& place_of(uint64_t number) { return ring[number % ring_size]; }
};

}  // namespace zevent::driver
