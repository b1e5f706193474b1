#pragma once

#include <vector>

#include "model/call_view.hpp"
#include "model/command.hpp"

namespace zevent::model {

// Adds the bytes that the command of an append is certain to touch: those of copies, fills and
// timestamps, sources before destinations. Image copies and kernels add nothing.
void add_certain_accesses(const call_view& call, std::vector<memory_access>& to);

}  // namespace zevent::model
