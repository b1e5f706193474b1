#include "launch/exec_report.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace zevent::launch {

exec_report::exec_report() {
  if (pipe2(ends_, O_CLOEXEC) != 0) ends_[0] = ends_[1] = -1;
}

exec_report::~exec_report() {
  for (const int end : ends_) {
    if (end >= 0) close(end);
  }
}

void exec_report::tell(int error) const {
  [[maybe_unused]] const auto written = write(ends_[1], &error, sizeof error);
}

int exec_report::wait() {
  close(std::exchange(ends_[1], -1));
  int error = 0;
  ssize_t told = 0;
  do told = read(ends_[0], &error, sizeof error);
  while (told < 0 && errno == EINTR);
  return told == sizeof error ? error : 0;
}

std::string exec_problem(const std::string& program, int error) {
  struct stat about {};
  const bool is_there =
      program.find('/') != std::string::npos && stat(program.c_str(), &about) == 0;
  const char* reason = std::strerror(error);
  if (is_there && S_ISDIR(about.st_mode)) reason = "it is a folder";
  if (is_there && error == ENOENT) reason = "the interpreter that it names does not exist";
  return fmt::format("cannot run {}: {}", program, reason);
}

}  // namespace zevent::launch
