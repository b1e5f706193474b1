#pragma once

#include <span>
#include <string>
#include <vector>

#include "replay/supervisor.hpp"

namespace zevent::replay {

// For each call that a replay is stuck in: what it waits for, and which calls of the recording
// would have had to bring that about. A line each. Programs that ran together are looked at
// together: an event may be signalled by another process.
result<std::vector<std::string>> explain_hang(const trace::trace_file& trace,
                                              std::span<const program> programs,
                                              std::span<const run_outcome> outcomes);

}  // namespace zevent::replay
