#include "zevent/ipc_transport.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/futex.hpp"

namespace zevent {
namespace {

[[noreturn]] void throw_socket_error(const char* call, const std::string& reason) {
  throw error(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, call, reason);
}

template <typename Call>
ssize_t retry(Call&& call) {
  ssize_t result = 0;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

// Ancillary space for one descriptor.
union descriptor_space {
  char bytes[CMSG_SPACE(sizeof(int))];
  cmsghdr alignment;
};

// The descriptor among the ancillary data; -1 when there is none.
int descriptor_in(msghdr& message) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(part), sizeof descriptor);
      return descriptor;
    }
  }
  return -1;
}

}  // namespace

received_handle::~received_handle() {
  if (descriptor_ >= 0) close(descriptor_);
}

void send_ipc_handle(int socket, const ipc_handle& handle, handle_passing passing) {
  iovec bytes{const_cast<std::byte*>(handle.data()), handle.size()};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  descriptor_space space{};
  if (passing == handle_passing::with_descriptor) {
    message.msg_control = space.bytes;
    message.msg_controllen = sizeof space.bytes;
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(part), handle.data(), sizeof(int));
  }
  const ssize_t sent = retry([&] { return sendmsg(socket, &message, MSG_NOSIGNAL); });
  if (sent < 0) throw_socket_error("send_ipc_handle", std::strerror(errno));
  if (sent != static_cast<ssize_t>(handle.size())) {
    throw_socket_error("send_ipc_handle", "the socket took only a part of the handle");
  }
}

received_handle receive_ipc_handle(int socket) {
  constexpr auto call = "receive_ipc_handle";
  ipc_handle handle{};
  descriptor_space space{};
  iovec bytes{handle.data(), handle.size()};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = space.bytes;
  message.msg_controllen = sizeof space.bytes;
  ssize_t got = retry([&] { return recvmsg(socket, &message, MSG_CMSG_CLOEXEC); });
  if (got < 0) throw_socket_error(call, std::strerror(errno));
  const int descriptor = descriptor_in(message);
  received_handle descriptor_owner(handle, descriptor);
  // A stream may deliver the rest later.
  size_t filled = static_cast<size_t>(got);
  while (got > 0 && filled < handle.size()) {
    got = retry([&] { return recv(socket, handle.data() + filled, handle.size() - filled, 0); });
    if (got < 0) throw_socket_error(call, std::strerror(errno));
    filled += static_cast<size_t>(got);
  }
  if (filled != handle.size()) throw_socket_error(call, "the sender hung up");
  if (descriptor >= 0) std::memcpy(handle.data(), &descriptor, sizeof descriptor);
  descriptor_owner.handle_ = handle;
  return descriptor_owner;
}

bool ipc_mailbox::move_on(state from, state through, std::chrono::nanoseconds timeout) {
  using clock = std::chrono::steady_clock;
  const auto begin = clock::now();
  for (;;) {
    uint32_t seen = from;
    if (state_.compare_exchange_strong(seen, through, std::memory_order_acquire)) return true;
    const auto left = timeout - (clock::now() - begin);
    if (left.count() <= 0) return false;
    futex_wait(state_, seen, futex_scope::shared, static_cast<uint64_t>(left.count()));
  }
}

void ipc_mailbox::settle(state now) {
  state_.store(now, std::memory_order_release);
  futex_wake(state_, futex_scope::shared);
}

bool ipc_mailbox::put(const ipc_handle& handle, std::chrono::nanoseconds timeout) {
  if (!move_on(empty, writing, timeout)) return false;
  handle_ = handle;
  settle(full);
  return true;
}

bool ipc_mailbox::take(ipc_handle& handle, std::chrono::nanoseconds timeout) {
  if (!move_on(full, reading, timeout)) return false;
  handle = handle_;
  settle(empty);
  return true;
}

}  // namespace zevent
