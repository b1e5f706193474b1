#pragma once

#include <atomic>
#include <string>

namespace zevent::recorder {

// Whether this process is profiled: every hook of a command looks here, so it is one load. relaxed
// is enough: it is set when the recording starts, which the first recorded call does.
extern std::atomic<bool> profile_is_on;

inline bool profiles() {
  return profile_is_on.load(std::memory_order_relaxed);
}

// Called when a recording starts: profiles if ZEVENT_PROFILE says so.
void begin_profile();

// Of kernels to be timed, a pattern with * and ?; empty: everything is timed.
const std::string& profiled_kernels();

bool matches_pattern(std::string_view pattern, std::string_view text);

}  // namespace zevent::recorder
