// Shares an event with another process: starts slow work on the device, hands the event to whoever
// connects, and ends when the other side hangs up.
//
//   ipc_producer SOCKET &
//   ipc_consumer SOCKET
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <zevent/ipc_event.hpp>
#include <zevent/ipc_transport.hpp>

#include <cstdio>
#include <cstring>

#include "example_device.hpp"

// The first connection to a socket of that name.
static int accept_one(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener, 1) != 0) {
    std::perror(path);
    return -1;
  }
  const int connection = accept(listener, nullptr, nullptr);
  unlink(path);
  return connection;
}

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "usage: ipc_producer SOCKET\n");
    return 2;
  }
  const auto at = example::first_device();
  if (!zevent::ipc_event::supported(at.device)) {
    std::fprintf(stderr, "ipc_producer: this driver cannot share events\n");
    return 1;
  }
  const int consumer = accept_one(argv[1]);
  if (consumer < 0) return 1;

  // Work that signals the event when it is done. Only in-order lists can.
  const auto list = example::immediate_list(at, example::order::in_order);
  const zevent::ipc_event done = zevent::ipc_event::create(at.context, at.device);
  const example::host_memory memory(at, 64 << 20, 0);
  const char pattern = 42;
  CHECK(zeCommandListAppendMemoryFill(list, memory.data(), &pattern, 1, memory.size(),
                                      done.handle(), 0, nullptr));

  zevent::send_ipc_handle(consumer, done.export_handle());
  std::printf("producer: the event is on its way\n");

  // The event must live until the consumer has seen it.
  char end = 0;
  while (read(consumer, &end, 1) > 0) {
  }
  done.wait();
  return 0;
} catch (const zevent::error& failure) {
  std::fprintf(stderr, "ipc_producer: %s\n", failure.what());
  return 1;
}
