#pragma once

#include <string_view>

namespace zevent::recorder {

// A function that counts its calls under `name` in the recording and goes on to `target`, whatever
// its arguments are. `target` itself where there are too many of them, or no way to do it on this
// processor.
void* count_and_pass_through(std::string_view name, void* target) noexcept;

}  // namespace zevent::recorder
