// Waits for an event of another process: the other half of ipc_producer.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <zevent/ipc_event.hpp>
#include <zevent/ipc_transport.hpp>

#include <cstdio>
#include <cstring>

#include "example_device.hpp"

// Tries for ten seconds, since the producer may still be starting.
static int connect_to(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  const int connection = socket(AF_UNIX, SOCK_STREAM, 0);
  for (int attempt = 0; attempt < 1000; ++attempt) {
    if (connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
      return connection;
    }
    usleep(10'000);
  }
  std::perror(path);
  return -1;
}

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "usage: ipc_consumer SOCKET\n");
    return 2;
  }
  const auto at = example::first_device();
  const int producer = connect_to(argv[1]);
  if (producer < 0) return 1;

  // Dropping the opened event closes it; the producer's stays.
  const zevent::ipc_event done =
      zevent::ipc_event::open(at.context, zevent::receive_ipc_handle(producer).handle());
  done.wait();
  std::printf("consumer: the other process's work is done\n");
  return 0;
} catch (const zevent::error& failure) {
  std::fprintf(stderr, "ipc_consumer: %s\n", failure.what());
  return 1;
}
