// What the types allow, decided when this file is compiled.
#include <gtest/gtest.h>

#include <type_traits>

#include "zevent/append_strided_copy.hpp"
#include "zevent/counter_event.hpp"
#include "zevent/event_pool.hpp"
#include "zevent/ipc_event.hpp"

namespace zevent {
namespace {

template <typename Event>
concept can_wait = requires(const Event& e) {
  e.wait();
  e.wait(std::chrono::seconds(1));
  e.ready();
};
template <typename Event>
concept can_signal = requires(const Event& e) {
  e.signal();
};
template <typename Event>
concept can_reset = requires(const Event& e) {
  e.reset();
};
template <typename Event>
concept can_tell_duration = requires(const Event& e) {
  e.duration();
};
template <typename Event>
concept can_be_exported = requires(const Event& e) {
  e.export_handle();
};

template <typename Event>
constexpr bool one_clear_owner =
    std::is_nothrow_move_constructible_v<Event>&& std::is_nothrow_move_assignable_v<Event> &&
    !std::is_copy_constructible_v<Event> && !std::is_copy_assignable_v<Event>;

TEST(event_types, each_has_one_owner_and_can_be_waited_for) {
  static_assert(one_clear_owner<event> && can_wait<event>);
  static_assert(one_clear_owner<timestamp_event> && can_wait<timestamp_event>);
  static_assert(one_clear_owner<counter_event> && can_wait<counter_event>);
  static_assert(one_clear_owner<counter_timestamp_event> && can_wait<counter_timestamp_event>);
  static_assert(one_clear_owner<ipc_event> && can_wait<ipc_event>);
}

TEST(event_types, only_regular_events_can_be_signalled_and_reset_by_the_host) {
  static_assert(can_signal<event> && can_reset<event>);
  static_assert(can_signal<timestamp_event> && can_reset<timestamp_event>);
  static_assert(!can_signal<counter_event> && !can_reset<counter_event>);
  static_assert(!can_signal<counter_timestamp_event> && !can_reset<counter_timestamp_event>);
  static_assert(!can_signal<ipc_event> && !can_reset<ipc_event>);
}

TEST(event_types, only_events_with_timestamps_tell_a_duration) {
  static_assert(can_tell_duration<timestamp_event> && can_tell_duration<counter_timestamp_event>);
  static_assert(!can_tell_duration<event> && !can_tell_duration<counter_event>);
  static_assert(!can_tell_duration<ipc_event>);
}

TEST(event_types, only_ipc_events_can_be_exported) {
  static_assert(can_be_exported<ipc_event>);
  static_assert(!can_be_exported<event> && !can_be_exported<counter_event>);
}

}  // namespace
}  // namespace zevent
