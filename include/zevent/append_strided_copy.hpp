#pragma once

// Appends planned copies (strided_copy.hpp) to a command list, with waits and signals placed so
// that they speak of the whole copy:
//
//   one operation          waits and signal on it
//   in-order list          waits on the first operation, signal on the last
//   any other list         waits on every operation, then a barrier without waits that signals:
//                          it waits for all that came before, while the last operation might well
//                          complete before the others
//   nothing to copy        a barrier with the waits that signals; without a signal nothing, except
//                          on in-order lists, where later commands count on the waits

#include <cstdint>
#include <optional>
#include <span>

#include "zevent/event.hpp"
#include "zevent/list_order.hpp"
#include "zevent/strided_copy.hpp"

namespace zevent {

// The event that a copy signals: none, an event of this library, or a raw handle of either kind.
class signal_event {
 public:
  signal_event() noexcept = default;
  signal_event(const waitable_event& event) noexcept
      : handle_(event.handle()), kind_(event.kind()) {}
  signal_event(ze_event_handle_t handle, event_kind kind = event_kind::regular) noexcept
      : handle_(handle), kind_(kind) {}

  ze_event_handle_t handle() const noexcept { return handle_; }
  event_kind kind() const noexcept { return kind_; }

 private:
  ze_event_handle_t handle_ = nullptr;
  event_kind kind_ = event_kind::regular;
};

struct copy_events {
  std::span<const ze_event_handle_t> waits = {};  // before anything is read or written

  signal_event signal = {};  // when everything is copied

  // Signalled by the first operation. One event with timestamps would time only a part of a copy
  // that takes several operations: with timestamp events here and in `signal`, elapsed(first,
  // signal) is the time of the whole.
  signal_event first = {};
};

// Copies from `source` to `destination`, the addresses of the elements with all indices 0. Returns
// how many commands were appended. `order` is what the caller knows about the list; without it the
// list is asked, and one that cannot be asked is treated as unordered, which is right for all.
//
// Refused before anything is appended, by zevent::error:
//   INVALID_NULL_HANDLE              the list or one of the waits is null
//   INVALID_NULL_POINTER             source or destination is null and there are bytes to copy
//   INVALID_SYNCHRONIZATION_OBJECT   an event that is both waited for and signalled, `first` and
//                                    `signal` the same, or a counter-based event to be signalled
//                                    by a list that is not in-order
//   OVERLAPPING_REGIONS              the copy would read bytes that it also writes
//   INVALID_SIZE                     more than 2^32 - 1 waits
// When an append fails half-way, the error has its result and error::appended() the number of
// commands appended before.
uint64_t append_strided_copy(ze_command_list_handle_t list, void* destination, const void* source,
                             const copy_plan& plan, const copy_events& events = {},
                             std::optional<list_order> order = std::nullopt);

// Plans and appends; also throws what plan_strided_copy does.
uint64_t append_strided_copy(ze_command_list_handle_t list, void* destination, const void* source,
                             const strided_shape& shape, const copy_events& events = {},
                             std::optional<list_order> order = std::nullopt);

}  // namespace zevent
