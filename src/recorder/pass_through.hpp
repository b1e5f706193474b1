#pragma once

#include <string_view>

namespace zevent::recorder {

// A function that counts its calls under `name` in the recording and goes on to `target`, whatever
// its arguments are. Where there are too many of them, or there is no way to do it on this
// processor, `target` itself: its count says that there may have been calls.
void* count_and_pass_through(std::string_view name, void* target) noexcept;

}  // namespace zevent::recorder
