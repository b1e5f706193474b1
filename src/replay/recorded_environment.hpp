#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trace/run_info.hpp"

namespace zevent::replay {

// Variables that tell a driver how to behave, as the recorded process had them: those of Level
// Zero, of Intel's driver, and of zevent's own apart from those that made the recording.
std::vector<std::pair<std::string, std::string>> recorded_environment(
    const trace::process_info& process);

}  // namespace zevent::replay
