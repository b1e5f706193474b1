#pragma once

#include <string>
#include <vector>

#include "trace/run_info.hpp"

namespace zevent::report {

// The driver of a recorded process and its devices, as the recorder asked for them:
// "/usr/lib/libze_intel_gpu.so.1, version 17002960, API 1.6: Intel Arc A770 (8086:56a0)". "" where
// the process had no driver.
std::string describe_driver(const trace::process_info& process);

// That of every driver in the run but the software driver, each once.
std::vector<std::string> describe_hardware_drivers(const trace::run_info& run);

}  // namespace zevent::report
