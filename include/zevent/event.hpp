#pragma once

// Events as types: what an event may not do, its type cannot say.
//
//                            wait, ready   signal, reset   duration
//   event                        x               x
//   timestamp_event              x               x             x
//   counter_event                x
//   counter_timestamp_event      x                             x
//   ipc_event                    x                                   (and export_handle)
//
// All of them are move-only and let go of the event as its owner wants it (event_owner.hpp). A
// moved-from event holds nothing; using it throws. Regular events come from event_pool.hpp or, one
// by one, from create(); counter-based ones from counter_event.hpp; shared ones from ipc_event.hpp.
//
// An event is let go only when no command that signals it or waits for it is still pending;
// counter-based events are exempt.

#include <level_zero/ze_api.h>

#include <chrono>
#include <cstdint>
#include <utility>

#include "zevent/error.hpp"
#include "zevent/event_owner.hpp"

namespace zevent {

// How an event keeps its state. A counter-based event is signalled only from in-order lists.
enum class event_kind { regular, counter_based };

// Which caches are flushed before a signal and invalidated after a wait. The default suits an event
// that the device signals and the host or another device's queue waits for.
struct event_scopes {
  ze_event_scope_flags_t signal = ZE_EVENT_SCOPE_FLAG_HOST;
  ze_event_scope_flags_t wait = ZE_EVENT_SCOPE_FLAG_DEVICE;
};

// What every event can do. Safe to call from several threads at once; moving is not.
class waitable_event {
 public:
  // For the C functions of Level Zero; null once moved from. Stays ours.
  ze_event_handle_t handle() const noexcept { return handle_; }
  explicit operator bool() const noexcept { return handle() != nullptr; }
  event_kind kind() const noexcept { return kind_; }

  // Whether the event is signalled now. Neither blocks nor allocates.
  bool ready() const {
    const ze_event_handle_t event = live_handle("zeEventQueryStatus");
    const ze_result_t status = zeEventQueryStatus(event);
    if (status == ZE_RESULT_SUCCESS) return true;
    if (status != ZE_RESULT_NOT_READY) throw_failed_query(status);
    return false;
  }

  // Until it is signalled.
  void wait() const;

  // Until it is signalled (true) or the time is over (false). A timeout of 0 or less only looks.
  bool wait(std::chrono::nanoseconds timeout) const;

 protected:
  waitable_event(event_owner owner, event_kind kind) noexcept
      : owner_(std::move(owner)), handle_(handle_of(owner_)), kind_(kind) {}
  waitable_event(waitable_event&& other) noexcept
      : owner_(std::move(other.owner_)),
        handle_(std::exchange(other.handle_, nullptr)),
        kind_(other.kind_) {}
  waitable_event& operator=(waitable_event&& other) noexcept {
    owner_ = std::move(other.owner_);
    handle_ = std::exchange(other.handle_, nullptr);
    kind_ = other.kind_;
    return *this;
  }
  ~waitable_event() = default;

  const event_owner& owner() const noexcept { return owner_; }

  // The handle, or an error in the name of `call` when there is none.
  ze_event_handle_t live_handle(const char* call) const {
    if (handle_ == nullptr) [[unlikely]]
      throw_moved_from(call);
    return handle_;
  }

 private:
  [[noreturn]] static void throw_moved_from(const char* call);
  [[noreturn]] static void throw_failed_query(ze_result_t result);

  event_owner owner_;
  ze_event_handle_t handle_;  // what owner_ holds, at hand for ready()
  event_kind kind_;
};

// A regular event: two states, set by a command or by the host, cleared only by a reset.
class event : public waitable_event {
 public:
  // One event with a pool of its own. Where there will be many, take an event_pool.
  static event create(ze_context_handle_t context, ze_device_handle_t device,
                      event_scopes scopes = {});

  explicit event(event_owner owner) noexcept
      : waitable_event(std::move(owner), event_kind::regular) {}

  // From the host. Signalling a signalled event and resetting an unsignalled one do nothing.
  void signal() const;

  // Only while no command that signals the event or waits for it is pending: the signal would be
  // lost. Throws where the driver leaves the event signalled: some of Intel's do (24.26 to 26.27,
  // on BMG and PVC) after an in-order immediate list has signalled it.
  void reset() const;
};

// How a device counts time.
struct timestamp_clock {
  double tick_ns = 1;
  uint64_t valid_mask = UINT64_MAX;  // the bits of a timestamp that count; it wraps beyond them

  // Throws what zeDeviceGetProperties fails with.
  static timestamp_clock of(ze_device_handle_t device);

  std::chrono::nanoseconds between(uint64_t start_ticks, uint64_t end_ticks) const noexcept;
};

// A regular event that also records when the command that signals it began and ended.
class timestamp_event : public event {
 public:
  timestamp_event(event_owner owner, timestamp_clock clock) noexcept
      : event(std::move(owner)), clock_(clock) {}

  static timestamp_event create(ze_context_handle_t context, ze_device_handle_t device,
                                event_scopes scopes = {});

  // Device ticks. Throws NOT_READY while the event is not signalled. Undefined when the host or
  // zeCommandListAppendSignalEvent signalled it.
  ze_kernel_timestamp_result_t timestamps() const;

  // How long the command ran, on the device's wall clock.
  std::chrono::nanoseconds duration() const;

  const timestamp_clock& clock() const noexcept { return clock_; }

 private:
  timestamp_clock clock_;
};

// From the start of `first` to the end of `last`: the time of a job of several commands whose first
// and last ones signal these events. Both on the same device.
std::chrono::nanoseconds elapsed(const timestamp_event& first, const timestamp_event& last);

}  // namespace zevent
