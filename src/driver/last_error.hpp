#pragma once

#include <string>

namespace zevent::driver {

// What this thread's last failed call has to say; "" where the result says it all.
const char* last_error();
void set_last_error(std::string text);

}  // namespace zevent::driver
