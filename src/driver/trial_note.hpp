#pragma once

#include <string_view>

namespace zevent::driver {

// Tells whoever tries the program out (ZEVENT_TRIAL_NOTE) that this had a part in the run.
void note_for_trial(std::string_view what);

}  // namespace zevent::driver
