#pragma once

#include <string>

#include "base/result.hpp"

namespace zevent::launch {

// After this time without an answer a driver hangs.
constexpr int probe_timeout_ms = 60'000;

// Whether the library can be loaded here and is a Level Zero driver or loader. A child process
// loads it: what its constructors do is not done to this one. The error names the library.
result<void> probe_driver(const std::string& library);

// The names of the driver's devices, "Intel Arc A770, Intel UHD 770"; an error where it has none
// that can be used here. A child process initialises the driver. The error does not name the
// library.
result<std::string> probe_device(const std::string& library, int timeout_ms = probe_timeout_ms);

}  // namespace zevent::launch
