#pragma once

#include <sys/utsname.h>

#include <cstdio>

namespace zevent {

// Whether the kernel is of this version or a later one.
inline bool kernel_is_at_least(int wanted_major, int wanted_minor) {
  utsname system{};
  int found_major = 0, found_minor = 0;
  if (uname(&system) != 0 || std::sscanf(system.release, "%d.%d", &found_major, &found_minor) != 2)
    return false;
  return found_major != wanted_major ? found_major > wanted_major : found_minor >= wanted_minor;
}

// Whether it tells how processes ended that others started.
inline bool kernel_tells_ends_of_others() {
  return kernel_is_at_least(6, 15);
}

}  // namespace zevent
