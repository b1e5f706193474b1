#include "report/pager.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace zevent::report {
namespace {

std::string pager_command() {
  const char* chosen = std::getenv("PAGER");
  std::string command = chosen != nullptr ? chosen : "less";
  return command == "cat" ? std::string() : command;
}

}  // namespace

pager::pager() {
  if (isatty(STDOUT_FILENO) == 0) return;
  const auto command = pager_command();
  if (command.empty()) return;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  std::fflush(stdout);
  process_ = fork();
  if (process_ == 0) {
    dup2(ends[0], STDIN_FILENO);
    // Colours as they are; no pager at all for what fits on the screen.
    setenv("LESS", "FRX", 0);
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  close(ends[0]);
  if (process_ > 0) {
    // Who leaves the pager has read enough: writing fails, and that is no reason to be killed.
    std::signal(SIGPIPE, SIG_IGN);
    terminal_ = dup(STDOUT_FILENO);
    dup2(ends[1], STDOUT_FILENO);
  }
  close(ends[1]);
}

pager::~pager() {
  if (!running()) return;
  std::fflush(stdout);
  // The pager sees the end of its input when the last writer is gone.
  dup2(terminal_, STDOUT_FILENO);
  close(terminal_);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace zevent::report
