#pragma once

#include <atomic>
#include <cstdint>

#include "driver/object.hpp"
#include "driver/sync_cell.hpp"

namespace zevent::driver {

// Counts the commands of an in-order list that are complete; what a counter-based event is bound
// to.
//
// The memory of a counter is never given back, only used for another one: a query reads an event's
// binding without a lock, and may look at a counter that the event has just left. It then finds
// that the binding has changed and looks again; what it must not find is unmapped memory.
class in_order_counter {
 public:
  static ref<in_order_counter> create();

  sync_cell cell;

  // Regular lists: the counter's value at the start of the latest submitted run. Command k of the
  // list is complete in that run when the cell reaches run_base + k. Before the first run it is 0,
  // and so nothing is complete.
  std::atomic<uint64_t> run_base{0};

  // Lists that are clones of one another signal the same events, each with its own counter: a run
  // of any of them takes the events over from the others. 0: no clones. Relaxed: whoever executes
  // a clone has got it from the call that made it.
  void join_family_of(in_order_counter& other);
  uint64_t family() const { return family_.load(std::memory_order_relaxed); }

  void add_reference() { references_.fetch_add(1, std::memory_order_relaxed); }
  void drop_reference() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) recycle();
  }

 private:
  friend class in_order_counter_store;
  void recycle();

  std::atomic<uint32_t> references_{1};
  std::atomic<uint64_t> family_{0};
  in_order_counter* next_free_ = nullptr;
};

}  // namespace zevent::driver
