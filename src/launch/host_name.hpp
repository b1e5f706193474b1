#pragma once

#include <unistd.h>

#include <string>

namespace zevent::launch {

// As in the names of a recording's parts.
inline std::string host_name() {
  char name[64] = {};
  gethostname(name, sizeof(name) - 1);
  return name;
}

}  // namespace zevent::launch
