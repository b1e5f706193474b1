#pragma once

// Who an event belongs to, and so how it is let go. Every event class of this library holds one
// event_owner; programs use those classes.

#include <level_zero/ze_api.h>

#include <cstdint>
#include <memory>
#include <type_traits>
#include <variant>

namespace zevent {

class event_store;  // where recycled events wait; private to the library

using event_object = std::remove_pointer_t<ze_event_handle_t>;

// Owned: destroyed, together with the pool that was made for it alone, if any.
struct destroy_event {
  ze_event_pool_handle_t pool = nullptr;
  void operator()(ze_event_handle_t event) const noexcept;
};
using owned_event = std::unique_ptr<event_object, destroy_event>;

// Borrowed from a recycling pool: given back, and reset where its kind needs that. The store lives
// until the last of its events has come back.
struct return_event {
  std::shared_ptr<event_store> store;
  uint32_t slot = 0;
  void operator()(ze_event_handle_t event) const noexcept;
};
using borrowed_event = std::unique_ptr<event_object, return_event>;

// Imported from another process: closed, by the function that belongs to the one that opened it.
struct close_event {
  ze_result_t(ZE_APICALL* close)(ze_event_handle_t) = nullptr;
  void operator()(ze_event_handle_t event) const noexcept;
};
using imported_event = std::unique_ptr<event_object, close_event>;

using event_owner = std::variant<owned_event, borrowed_event, imported_event>;

inline ze_event_handle_t handle_of(const event_owner& owner) noexcept {
  return std::visit([](const auto& held) -> ze_event_handle_t { return held.get(); }, owner);
}

}  // namespace zevent
