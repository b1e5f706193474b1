#pragma once

#include <unordered_set>

#include "driver/spirv_binary.hpp"

namespace zevent::driver::spirv {

// Functions with a barrier of the group, or a call of one that has one: while a work-item is in
// them, others write to the memory that its parameters point at.
std::unordered_set<id> find_functions_with_barriers(const binary& module);

// Takes from the parameters of such functions the promise that nothing else points at their memory
// (`restrict`). It says that no other pointer of the same work-item does; the kernel compiler would
// conclude that nothing changes there during a barrier.
void drop_restrict_across_barriers(binary& module);

}  // namespace zevent::driver::spirv
