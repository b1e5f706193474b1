#pragma once

#include "base/faults.hpp"

namespace zevent::driver {

// The faults of ZEVENT_FAULTS, read once. A text that is not understood switches nothing on, and
// faults_are_valid() is false: initialisation fails then.
const fault_set& active_faults();
bool faults_are_valid();

inline bool has_fault(fault which) {
  return active_faults().has(which);
}

// Counts the occasion. True when the fault is on and this is occasion number N ("at") or later.
bool fault_strikes_at(fault which);
// Counts the occasion. True when the fault is on and N occasions ("after") have passed before.
bool fault_strikes_after(fault which);

}  // namespace zevent::driver
