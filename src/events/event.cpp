#include "zevent/event.hpp"

#include "events/check.hpp"
#include "events/event_source.hpp"
#include "events/timestamps.hpp"

namespace zevent {

void destroy_event::operator()(ze_event_handle_t event) const noexcept {
  zeEventDestroy(event);
  if (pool != nullptr) zeEventPoolDestroy(pool);
}

void close_event::operator()(ze_event_handle_t event) const noexcept {
  close(event);
}

void waitable_event::throw_moved_from(const char* call) {
  throw error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, call, "the event was moved from");
}

void waitable_event::throw_failed_query(ze_result_t result) {
  throw error(result, "zeEventQueryStatus");
}

void waitable_event::wait() const {
  constexpr auto call = "zeEventHostSynchronize";
  check(zeEventHostSynchronize(live_handle(call), UINT64_MAX), call);
}

bool waitable_event::wait(std::chrono::nanoseconds timeout) const {
  if (timeout.count() <= 0) return ready();
  constexpr auto call = "zeEventHostSynchronize";
  return check_ready(
      zeEventHostSynchronize(live_handle(call), static_cast<uint64_t>(timeout.count())), call);
}

void event::signal() const {
  constexpr auto call = "zeEventHostSignal";
  check(zeEventHostSignal(live_handle(call)), call);
}

void event::reset() const {
  constexpr auto call = "zeEventHostReset";
  check(zeEventHostReset(live_handle(call)), call);
  if (ready())
    throw error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, call,
                "the driver left the event signalled, as some do after an in-order immediate list "
                "has signalled it; take another event, or append a reset to a list");
}

namespace {

owned_event create_single(const pool_traits& traits) {
  owned_pool pool = create_pool(traits, 1);
  const ze_event_handle_t created = create_pool_event(pool.get(), 0, traits.scopes);
  return owned_event(created, destroy_event{pool.release()});
}

}  // namespace

event event::create(ze_context_handle_t context, ze_device_handle_t device, event_scopes scopes) {
  return event(create_single({.context = context, .device = device, .scopes = scopes}));
}

timestamp_event timestamp_event::create(ze_context_handle_t context, ze_device_handle_t device,
                                        event_scopes scopes) {
  return {
      create_single({.context = context, .device = device, .timestamps = true, .scopes = scopes}),
      timestamp_clock::of(device)};
}

ze_kernel_timestamp_result_t timestamp_event::timestamps() const {
  return query_timestamps(live_handle("zeEventQueryKernelTimestamp"));
}

std::chrono::nanoseconds timestamp_event::duration() const {
  return duration_of(timestamps(), clock_);
}

std::chrono::nanoseconds elapsed(const timestamp_event& first, const timestamp_event& last) {
  return first.clock().between(first.timestamps().global.kernelStart,
                               last.timestamps().global.kernelEnd);
}

}  // namespace zevent
