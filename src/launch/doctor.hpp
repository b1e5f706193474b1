#pragma once

#include <string>
#include <vector>

namespace zevent::launch {

enum class health {
  good,     // there and working
  note,     // worth knowing, nothing to do
  missing,  // zevent works without it; `advice` says what it would bring
  broken,   // zevent does not work until `advice` is followed
};

struct examined {
  health state;
  std::string what;
  std::string found;
  std::string advice;  // "" where there is nothing to do
};

// Looks at this machine: zevent's own files, the stock loader, drivers, what kernels need, and the
// environment variables that are set.
std::vector<examined> examine_machine();

}  // namespace zevent::launch
