#pragma once

#include <unordered_set>

#include "driver/spirv_types.hpp"

namespace zevent::driver::spirv {

// Functions with a barrier of the group, or a call of one that has one, that perhaps not all
// work-items of a group come to: a branch or return on the way depends on which work-item it is.
// OpenCL C forbids it, but GPUs go on without those that have returned, and programs rely on that.
//
// What depends on a work-item: what is made of its ids, of what it loads from a place made of them
// or gets from an atomic operation, and of private variables that such a value was stored to.
std::unordered_set<id> find_divergent_barriers(const binary& module);

}  // namespace zevent::driver::spirv
