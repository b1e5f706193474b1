#pragma once

// Two ways to take an exported event to another process: over a Unix socket, and through memory
// that both have mapped. Any other way to move 64 bytes does as well.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <utility>

#include "zevent/ipc_event.hpp"

namespace zevent {

// Drivers put a file descriptor into the first four bytes of a handle, and most can reach it from
// another process by themselves. Where they cannot (processes that may not look at each other), the
// descriptor travels with the handle, and the receiver's number for it takes its place.
enum class handle_passing { bytes_only, with_descriptor };

// A handle as it arrived, with the descriptor that came along, if any. Open it, then drop it.
class received_handle {
 public:
  received_handle(const ipc_handle& handle, int descriptor) noexcept
      : handle_(handle), descriptor_(descriptor) {}
  received_handle(received_handle&& other) noexcept
      : handle_(other.handle_), descriptor_(std::exchange(other.descriptor_, -1)) {}
  received_handle& operator=(received_handle&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~received_handle();

  const ipc_handle& handle() const noexcept { return handle_; }

 private:
  friend received_handle receive_ipc_handle(int socket);

  ipc_handle handle_;
  int descriptor_;  // -1 when none came
};

// Over a connected Unix socket of any type; blocks while the socket does. Errors of the socket are
// zevent::error with DEPENDENCY_UNAVAILABLE and the reason.
void send_ipc_handle(int socket, const ipc_handle& handle,
                     handle_passing passing = handle_passing::bytes_only);
received_handle receive_ipc_handle(int socket);

// One handle on its way, in memory that processes share. Memory full of zeros is an empty mailbox:
// map it shared, at any address that suits the type, and use it from all sides.
//   auto* mailbox = static_cast<ipc_mailbox*>(mmap(...MAP_SHARED...));
class ipc_mailbox {
 public:
  // Puts the handle in when the mailbox is empty; false when it did not become so in time.
  bool put(const ipc_handle& handle, std::chrono::nanoseconds timeout);

  // Takes the handle out, leaving the mailbox empty; false when none came in time.
  bool take(ipc_handle& handle, std::chrono::nanoseconds timeout);

 private:
  enum state : uint32_t { empty, writing, full, reading };

  bool move_on(state from, state through, std::chrono::nanoseconds timeout);
  void settle(state now);

  // A futex. Acquire on entering `writing` or `reading`, release on leaving them: the bytes belong
  // to whoever is in between.
  std::atomic<uint32_t> state_;
  ipc_handle handle_;
};
static_assert(std::atomic<uint32_t>::is_always_lock_free);

}  // namespace zevent
