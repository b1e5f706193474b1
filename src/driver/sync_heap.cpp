#include "driver/sync_heap.hpp"

#include "driver/made_with_driver.hpp"

namespace zevent::driver {

shared_heap& sync_heap() {
  static auto* heap = new shared_heap("zevent-events", 64);
  return *heap;
}

const made_with_driver heap_of_cells([] { sync_heap(); });

}  // namespace zevent::driver
