#pragma once

#include <level_zero/ze_api.h>

#include <memory>
#include <vector>

#include "driver/command.hpp"
#include "driver/device.hpp"
#include "driver/object.hpp"

namespace zevent::driver {

// Nothing but the order: for barriers, and for commands that only wait.
std::unique_ptr<command> make_barrier();
// Nothing but the signal.
std::unique_ptr<command> make_signal();
// Nothing at all.
std::unique_ptr<command> make_no_operation();

std::unique_ptr<command> make_event_reset(event& target);
std::unique_ptr<command> make_global_timestamp(device& clock_of, uint64_t* destination);
std::unique_ptr<command> make_host_function(ze_host_function_callback_t function, void* user_data);

// Writes the timestamps of events, one after the other or each at its offset.
std::unique_ptr<command> make_timestamp_query(device& clock_of, std::vector<ref<event>> events,
                                              void* destination, std::vector<size_t> offsets);

// The last signal's times on the device's clock.
ze_kernel_timestamp_result_t kernel_timestamps(const device& clock_of, const event& of);

}  // namespace zevent::driver
