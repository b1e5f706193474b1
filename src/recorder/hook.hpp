#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "api/recording_format.hpp"
#include "recorder/process_recording.hpp"
#include "recorder/thread_log.hpp"

// What a hook is made of. For every function of the API the generator writes
//
//   ze_result_t zeEventQueryStatus(ze_event_handle_t hEvent) {
//     open_call call(function_index);
//     if (auto inputs = call.inputs()) { …; call.publish(inputs); }
//     const auto result = next(hEvent);
//     call.returned(result);
//     if there are outputs: if (auto outputs = call.outputs()) { …; call.publish_outputs(outputs);
//     } call.complete(); return result;
//   }

namespace zevent::recorder {}  // namespace zevent::recorder
