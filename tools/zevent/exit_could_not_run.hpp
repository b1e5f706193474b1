#pragma once

namespace zevent::tool {

// Of replay and repro: neither the same nor another symptom (docs/exit-status.md); `git bisect run`
// skips it.
inline constexpr int exit_could_not_run = 125;

}  // namespace zevent::tool
