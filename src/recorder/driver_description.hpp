#pragma once

#include <level_zero/ze_api.h>

namespace zevent::recorder {

// Notes the version of the next driver and the names of its devices, as facts of the process. The
// recorder asks for them itself, once, whether or not the program does, and past the hooks: these
// calls are not in the trace.

// After the program's zeInit.
void describe_next_driver() noexcept;

// After a call that gave the program driver handles; both may be null.
void describe_drivers(const uint32_t* count, const ze_driver_handle_t* drivers) noexcept;

}  // namespace zevent::recorder
