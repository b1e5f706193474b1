#include "zevent/event_pool.hpp"

#include "events/event_store.hpp"

namespace zevent {
namespace {

std::shared_ptr<event_store> regular_store(const pool_traits& traits) {
  return std::make_shared<event_store>(std::make_unique<pooled_event_source>(traits), true);
}

}  // namespace

event_pool::event_pool(ze_context_handle_t context, ze_device_handle_t device, event_scopes scopes)
    : store_(regular_store({.context = context, .device = device, .scopes = scopes})) {}

event event_pool::acquire() {
  return event(event_store::acquire(store_));
}

uint32_t event_pool::capacity() const noexcept {
  return store_->capacity();
}

timestamp_event_pool::timestamp_event_pool(ze_context_handle_t context, ze_device_handle_t device,
                                           event_scopes scopes)
    : store_(regular_store(
          {.context = context, .device = device, .timestamps = true, .scopes = scopes})),
      clock_(timestamp_clock::of(device)) {}

timestamp_event timestamp_event_pool::acquire() {
  return {event_store::acquire(store_), clock_};
}

uint32_t timestamp_event_pool::capacity() const noexcept {
  return store_->capacity();
}

}  // namespace zevent
