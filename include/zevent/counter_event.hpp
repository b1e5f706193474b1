#pragma once

// Counter-based events: complete until a command is appended that signals them, then complete again
// when that command is. They are signalled only from in-order lists, are never reset, may be
// signalled again without waiting for the last use, and a wait means the signal that was appended
// last before it.
//
// Drivers offer them in several ways, and old ones not at all. The pool takes the best there is and
// says which it got:
//   standard         zeEventCounterBasedCreate (API 1.15)
//   extension        zexCounterBasedEventCreate2, found by name in the driver
//   pool_extension   ZE_experimental_event_pool_counter_based
//   regular_events   none of these: regular events, reset when they are given back. Signal them
//   once
//                    for each acquire(), and do not take them for signalled before.

#include <cstdint>
#include <memory>

#include "zevent/event.hpp"

namespace zevent {

enum class counter_backing { standard, extension, pool_extension, regular_events };

const char* to_string(counter_backing backing) noexcept;

// Where the events will be signalled, and whether regular events may stand in.
struct counter_event_options {
  bool immediate_lists = true;
  bool regular_lists = true;
  bool allow_regular_events = true;
  event_scopes scopes = {};
};

class counter_event : public waitable_event {
 public:
  counter_event(event_owner owner, event_kind kind) noexcept
      : waitable_event(std::move(owner), kind) {}

  // Whether it may be signalled again without being given back first: not so for a regular event
  // that stands in.
  bool reusable() const noexcept { return kind() == event_kind::counter_based; }
};

// A counter-based event that also records when the last command that signalled it began and ended.
class counter_timestamp_event : public counter_event {
 public:
  counter_timestamp_event(event_owner owner, event_kind kind, timestamp_clock clock) noexcept
      : counter_event(std::move(owner), kind), clock_(clock) {}

  // As for timestamp_event.
  ze_kernel_timestamp_result_t timestamps() const;
  std::chrono::nanoseconds duration() const;

 private:
  timestamp_clock clock_;
};

// A recycling pool, with the promises of event_pool. An event may be given back while commands that
// use it are pending, unless it is a regular one.
class counter_event_pool {
 public:
  // Throws UNSUPPORTED_FEATURE when only regular events are left and the options do not allow them.
  counter_event_pool(ze_context_handle_t context, ze_device_handle_t device,
                     const counter_event_options& options = {});

  counter_backing backing() const noexcept { return backing_; }
  counter_event acquire();
  uint32_t capacity() const noexcept;

 private:
  std::shared_ptr<event_store> store_;
  counter_backing backing_;
};

class counter_timestamp_event_pool {
 public:
  counter_timestamp_event_pool(ze_context_handle_t context, ze_device_handle_t device,
                               const counter_event_options& options = {});

  counter_backing backing() const noexcept { return backing_; }
  counter_timestamp_event acquire();
  uint32_t capacity() const noexcept;

 private:
  std::shared_ptr<event_store> store_;
  counter_backing backing_;
  timestamp_clock clock_;
};

}  // namespace zevent
