#pragma once

#include <level_zero/ze_api.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace zevent::driver::test {

// What a test asks of a peer process, and what the peer answers. One at a time.
enum class ask : uint32_t {
  create_pool,  // a shared pool with events -> its handle
  open_pool,    // of the handle
  close_pool,
  reopen_pool,     // opens and closes the handle `argument` times
  signal_event,    // the event `argument` of the pool
  wait_event,      // the event `argument` of the pool, 10 s at most
  query_event,     // likewise, at once
  device_wait,     // a command that waits for the event, then the host for the command
  create_counter,  // a shared counter-based event -> nothing
  append_signal,   // signals the counter-based event behind a gate
  open_gate,       // lets that signal happen
  export_counter,  // -> its handle
  open_counter,    // of the handle
  close_counter,
  reopen_counter,  // like reopen_pool
  wait_counter,    // 10 s at most
  query_counter,
  create_memory,  // `argument` bytes of 0x5a -> its handle
  open_memory,    // of the handle; answers with the first byte, then fills it with 0xa5
  close_memory,
  reopen_memory,  // like reopen_pool
  read_memory,    // -> the first byte of the memory it created
  put_memory,     // gives the handle of its memory back
  destroy_all,    // what it created
  count_descriptors,
  count_maps,
  count_shared_files,  // those that the driver might have left in /dev/shm
};

struct message {
  ask what{};
  ze_result_t result = ZE_RESULT_SUCCESS;
  uint64_t argument = 0;
  char handle[ZE_MAX_IPC_HANDLE_SIZE] = {};
};

// With a descriptor, which the receiver gets as its own, in the first bytes of the handle.
inline bool send_message(int socket, const message& sent, int descriptor = -1) {
  iovec content = {const_cast<message*>(&sent), sizeof sent};
  msghdr header = {};
  header.msg_iov = &content;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (descriptor >= 0) {
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
  }
  return sendmsg(socket, &header, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof sent);
}

// The descriptor that came with it, or -1; false at the end.
inline bool receive_message(int socket, message& received, int& descriptor) {
  iovec content = {&received, sizeof received};
  msghdr header = {};
  header.msg_iov = &content;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  descriptor = -1;
  if (recvmsg(socket, &header, MSG_WAITALL) != static_cast<ssize_t>(sizeof received)) return false;
  if (const cmsghdr* rights = CMSG_FIRSTHDR(&header)) {
    std::memcpy(&descriptor, CMSG_DATA(rights), sizeof descriptor);
    std::memcpy(received.handle, &descriptor, sizeof descriptor);
  }
  return true;
}

}  // namespace zevent::driver::test
