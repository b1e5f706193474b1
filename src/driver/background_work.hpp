#pragma once

#include <functional>

namespace zevent::driver {

// Does `work` on a thread that nobody waits for, one piece after the other. The thread is there as
// long as there is something to do. Work that is waiting when the process ends, or in the child of
// a fork, is not done; neither is any where the system gives no thread.
void do_in_background(std::function<void()> work);

}  // namespace zevent::driver
