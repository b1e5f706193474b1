#include "launch/driver_probe.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/signal_name.hpp"

namespace zevent::launch {
namespace {

// What is wrong with the library; "" when nothing is.
std::string problem_of(const std::string& library) {
  void* opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) return dlerror();
  if (dlsym(opened, "zevent_recorder_is_here") != nullptr)
    return "it is the recorder itself; give the driver to record";
  if (dlsym(opened, "zeInit") == nullptr && dlsym(opened, "zeGetGlobalProcAddrTable") == nullptr)
    return "it is not a Level Zero driver: it has neither zeInit nor zeGetGlobalProcAddrTable";
  return "";
}

std::string read_all(int from) {
  std::string text;
  char piece[512];
  for (;;) {
    const ssize_t got = read(from, piece, sizeof piece);
    if (got > 0) text.append(piece, static_cast<size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) return text;
  }
}

}  // namespace

result<void> probe_driver(const std::string& library) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fail("cannot make a pipe: {}", std::strerror(errno));
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    return fail("cannot start a process: {}", std::strerror(errno));
  }
  if (child == 0) {
    const std::string problem = problem_of(library);
    [[maybe_unused]] const auto told = write(ends[1], problem.data(), problem.size());
    _exit(0);  // the library's destructors belong to nobody
  }
  close(ends[1]);
  const std::string problem = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status))
    return fail("cannot load the driver {}: it crashed with {}", library,
                signal_name(WTERMSIG(status)));
  if (!problem.empty()) return fail("cannot load the driver {}: {}", library, problem);
  return {};
}

}  // namespace zevent::launch
