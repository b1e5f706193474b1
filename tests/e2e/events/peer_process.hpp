#pragma once

#include <sys/types.h>

#include <string>

#include "ipc_peer.hpp"

namespace zevent {

// ipc_peer, started in a role, with a socket to talk to it. A process of its own from the start:
// nothing of this one's Level Zero is inherited.
class peer_process {
 public:
  // `memory` is a descriptor to share with it, or -1.
  explicit peer_process(const std::string& role, int memory = -1);
  peer_process(const peer_process&) = delete;
  peer_process& operator=(const peer_process&) = delete;
  ~peer_process();  // waits for its end and expects a clean one

  int socket() const { return socket_; }

  // The next letter it says; 0 when it says none within 30 seconds, or has ended.
  char hear();
  void tell(char letter);

  // Waits for its end; the exit status, or -1 when a signal ended it.
  int join();

 private:
  pid_t process_ = -1;
  int socket_ = -1;
};

}  // namespace zevent
