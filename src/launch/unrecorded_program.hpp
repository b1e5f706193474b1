#pragma once

#include <string>
#include <vector>

#include "launch/installation.hpp"
#include "launch/way_in.hpp"

namespace zevent::launch {

// Why a program that ran under the recorder left no call, as far as its file tells: a script, a
// static or 32-bit program, one with another user's rights, one that does not use the loader, or
// one that found another loader than the recorder. One sentence without a full stop, about
// `command`.
std::string explain_unrecorded(const std::vector<std::string>& command, way_in way,
                               const installation& files);

}  // namespace zevent::launch
