#include "driver/sync_heap.hpp"

namespace zevent::driver {

shared_heap& sync_heap() {
  static auto* heap = new shared_heap("zevent-events", 64);
  return *heap;
}

}  // namespace zevent::driver
