#pragma once

#include <level_zero/ze_api.h>

namespace zevent::recorder {

// What the profiler asks of the next driver. These calls are the tool's own: they go past the hooks
// and are not recorded.
struct profile_driver {
#define ZEVENT_PROFILE_CALLS(X)               \
  X(zeDeviceGetProperties)                    \
  X(zeDeviceGetGlobalTimestamps)              \
  X(zeEventPoolCreate)                        \
  X(zeEventPoolDestroy)                       \
  X(zeEventPoolGetFlags)                      \
  X(zeEventCreate)                            \
  X(zeEventDestroy)                           \
  X(zeEventHostReset)                         \
  X(zeEventHostSynchronize)                   \
  X(zeEventQueryStatus)                       \
  X(zeEventQueryKernelTimestamp)              \
  X(zeMemAllocHost)                           \
  X(zeMemFree)                                \
  X(zeCommandListCreate)                      \
  X(zeCommandListClose)                       \
  X(zeCommandListDestroy)                     \
  X(zeCommandListAppendBarrier)               \
  X(zeCommandListAppendEventReset)            \
  X(zeCommandListAppendMemoryCopy)            \
  X(zeCommandListAppendQueryKernelTimestamps) \
  X(zeCommandListAppendSignalEvent)           \
  X(zeCommandListGetContextHandle)            \
  X(zeCommandListGetDeviceHandle)             \
  X(zeCommandListImmediateGetFlags)           \
  X(zeCommandListIsImmediate)                 \
  X(zeCommandListIsGraphCaptureEnabledExt)

#define ZEVENT_DECLARE_CALL(name) decltype(&::name) name;
  ZEVENT_PROFILE_CALLS(ZEVENT_DECLARE_CALL)
#undef ZEVENT_DECLARE_CALL
};

// The driver is loaded when this is first asked for.
const profile_driver& next_driver_calls();

}  // namespace zevent::recorder
