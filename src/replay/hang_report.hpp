#pragma once

#include <string>
#include <vector>

#include "replay/supervisor.hpp"

namespace zevent::replay {

// For each call that a replay is stuck in: what it waits for, and which calls of the recording
// would have had to bring that about. A line each.
result<std::vector<std::string>> explain_hang(const trace::trace_file& trace,
                                              const compile_options& options, const program& what,
                                              const run_outcome& outcome);

}  // namespace zevent::replay
