#pragma once

// Recycling pools of regular events, for one context, device and set of scopes.
//
// acquire() hands out an event that is not signalled; dropping the event gives it back, reset.
// Where the driver does not reset it, the event is destroyed and another one is created, which
// takes a lock. A pool grows as needed, by Level Zero pools that double in size, and keeps its
// events until it is gone and the last of them has come back. Everything here may be called from
// any thread; taking a recycled event and giving one back take no lock and make no system call.

#include <cstdint>
#include <memory>

#include "zevent/event.hpp"

namespace zevent {

class event_pool {
 public:
  event_pool(ze_context_handle_t context, ze_device_handle_t device, event_scopes scopes = {});

  event acquire();

  // Events made so far: those handed out and those that wait to be.
  uint32_t capacity() const noexcept;

 private:
  std::shared_ptr<event_store> store_;
};

// The same for events that record times.
class timestamp_event_pool {
 public:
  timestamp_event_pool(ze_context_handle_t context, ze_device_handle_t device,
                       event_scopes scopes = {});

  timestamp_event acquire();

  uint32_t capacity() const noexcept;

 private:
  std::shared_ptr<event_store> store_;
  timestamp_clock clock_;
};

}  // namespace zevent
