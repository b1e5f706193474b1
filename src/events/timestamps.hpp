#pragma once

#include "zevent/event.hpp"

namespace zevent {

// Throws NOT_READY while the event is not signalled.
ze_kernel_timestamp_result_t query_timestamps(ze_event_handle_t event);

std::chrono::nanoseconds duration_of(const ze_kernel_timestamp_result_t& times,
                                     const timestamp_clock& clock) noexcept;

}  // namespace zevent
