#include "peer_process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zevent {

peer_process::peer_process(const std::string& role, int memory) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  socket_ = ends[0];
  // Moved out of the way of the numbers that the peer gets: dup2 onto itself would keep CLOEXEC.
  const int theirs = fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
  close(ends[1]);
  const int shared = memory < 0 ? -1 : fcntl(memory, F_DUPFD_CLOEXEC, 10);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, theirs, peer::socket_descriptor);
  if (shared >= 0) posix_spawn_file_actions_adddup2(&actions, shared, peer::memory_descriptor);
  std::string program = ZEVENT_IPC_PEER;
  std::string argument = role;
  char* const arguments[] = {program.data(), argument.data(), nullptr};
  EXPECT_EQ(posix_spawn(&process_, program.c_str(), &actions, nullptr, arguments, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  close(theirs);
  if (shared >= 0) close(shared);
}

peer_process::~peer_process() {
  if (process_ > 0) {
    EXPECT_EQ(join(), 0) << "the peer failed";
  }
  close(socket_);
}

char peer_process::hear() {
  pollfd readable{socket_, POLLIN, 0};
  char letter = 0;
  if (poll(&readable, 1, 30'000) != 1 || read(socket_, &letter, 1) != 1) return 0;
  return letter;
}

void peer_process::tell(char letter) {
  EXPECT_EQ(write(socket_, &letter, 1), 1);
}

int peer_process::join() {
  int status = 0;
  EXPECT_EQ(waitpid(process_, &status, 0), process_);
  process_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace zevent
