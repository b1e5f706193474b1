#pragma once

#include "driver/shared_heap.hpp"

namespace zevent::driver {

// Holds the events that other processes may open; apart from the memory of allocations, so that who
// is given an event is not given that.
shared_heap& sync_heap();

}  // namespace zevent::driver
