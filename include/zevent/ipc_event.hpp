#pragma once

// Events shared between processes: counter-based events that one process makes, exports as 64 bytes
// and signals from an in-order list, and that others open from those bytes and wait for.
//
//   producer                                        consumer
//   auto e = ipc_event::create(context, device);
//   append a command that signals e.handle()
//   send e.export_handle()                 ──►      auto e = ipc_event::open(context, bytes);
//                                                   e.wait();
//
// Some drivers share one way only: a handle can be exported only after a signal was appended, an
// imported event can only be waited for, and a later signal is seen only through a new handle.
// Others share both ways: importers may signal too, and an event may be opened before its first
// signal. A driver that refuses says so by the results below.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "zevent/event.hpp"

namespace zevent {

// The exported form of an event: a value, to be sent to other processes in any way. It keeps
// nothing alive, and dropping it harms nobody; it is good for as long as the producer's event
// lives.
using ipc_handle = std::array<std::byte, 64>;

class ipc_event : public waitable_event {
 public:
  // The bits of ze_event_counter_based_flag_t that an IPC event can have besides its own.
  static constexpr uint32_t immediate_lists = 1;
  static constexpr uint32_t regular_lists = 2;
  static constexpr uint32_t graph_external = 0x40;

  // Whether the device's driver can share events between processes. Asked once for each device,
  // when first needed.
  static bool supported(ze_device_handle_t device);

  // A host-visible event that can be exported. Throws
  //   INVALID_NULL_HANDLE   context or device is null
  //   INVALID_ENUMERATION   reserved flag bits
  //   INVALID_ARGUMENT      flags ask for timestamps (they exclude sharing), or the device is not
  //   of
  //                         the context
  //   UNSUPPORTED_FEATURE   the driver cannot share events
  static ipc_event create(ze_context_handle_t context, ze_device_handle_t device,
                          uint32_t flags = immediate_lists | regular_lists,
                          event_scopes scopes = {});

  // Takes over a counter-based event made elsewhere, and will destroy it.
  static ipc_event adopt(ze_event_handle_t event);

  // An event of another process, or of this one: each call gives an independent event, closed when
  // it is let go. Throws
  //   INVALID_NULL_HANDLE   context is null
  //   INVALID_SIZE          not 64 bytes
  //   UNSUPPORTED_FEATURE   the driver cannot share events
  //   what the driver says of bytes that name no event any more
  static ipc_event open(ze_context_handle_t context, std::span<const std::byte> bytes);

  // Throws INVALID_ARGUMENT when the event was imported, was not made for sharing, or has
  // timestamps; also from a driver that shares one way only, before the first signal was appended.
  ipc_handle export_handle() const;

  bool imported() const noexcept { return std::holds_alternative<imported_event>(owner()); }

 private:
  explicit ipc_event(event_owner owner) noexcept
      : waitable_event(std::move(owner), event_kind::counter_based) {}
};

}  // namespace zevent
