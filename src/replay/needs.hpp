#pragma once

#include <string>
#include <vector>

#include "replay/program.hpp"

namespace zevent::replay {

// What the driver has not got and the recording needs, a line each; nothing when it can do all of
// it. The driver is asked in a process of its own: a replay makes no calls but the recorded ones.
// One that does not answer in time is an error.
result<std::vector<std::string>> unmet_needs(
    const program& what, const std::string& driver,
    const std::vector<std::pair<std::string, std::string>>& environment, uint64_t timeout_ns);

}  // namespace zevent::replay
