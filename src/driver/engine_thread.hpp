#pragma once

#include <functional>

namespace zevent::driver {

// Starts a thread of the driver: named, deaf to the client's signals, never joined (it ends with
// the process). False when the system gives no thread.
bool start_engine_thread(const char* name, std::function<void()> body);

}  // namespace zevent::driver
