#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trace/run_info.hpp"

namespace zevent::replay {

using variable_list = std::vector<std::pair<std::string, std::string>>;

// The settings that say how a driver behaves, as the recorded process had them, sorted by name: a
// replay sets them again.
variable_list recorded_environment(const trace::process_info& process);

// Its other variables about Level Zero. They may name libraries and files, and a trace may be
// anyone's: they are set again only where the user asks for it.
variable_list variables_left_out(const trace::process_info& process);

}  // namespace zevent::replay
