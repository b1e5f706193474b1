#include "launch/captured_run.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "launch/program.hpp"

namespace zevent::launch {
namespace {

// A file without a name that takes up what a program prints.
class captured_output {
 public:
  captured_output() : descriptor_(memfd_create("zevent-output", MFD_CLOEXEC)) {}
  captured_output(const captured_output&) = delete;
  captured_output& operator=(const captured_output&) = delete;
  ~captured_output() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  int descriptor() const { return descriptor_; }

  std::string text() const {
    std::string all;
    char piece[4096];
    for (off_t offset = 0;;) {
      const ssize_t got = pread(descriptor_, piece, sizeof piece, offset);
      if (got <= 0) return all;
      all.append(piece, static_cast<size_t>(got));
      offset += got;
    }
  }

 private:
  const int descriptor_;
};

[[noreturn]] void become(const captured_run_request& request, const environment_changes& more,
                         int output) {
  setpgid(0, 0);  // so that a run that hangs can be ended with all it started
  const int nothing = open("/dev/null", O_RDWR);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  for (const auto& [name, value] : more) setenv(name.c_str(), value.c_str(), 1);
  become_program(request.command, request.environment);
  _exit(errno == ENOENT ? exit_not_found : exit_not_executable);
}

// False when the time was over first.
bool wait_for_end(pid_t child, uint64_t timeout_ms) {
  const auto descriptor = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  if (descriptor < 0) return true;  // without it there is no limit
  pollfd end{descriptor, POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&end, 1, static_cast<int>(timeout_ms));
  } while (ready < 0 && errno == EINTR);
  close(descriptor);
  return ready != 0;
}

}  // namespace

result<run_end> run_captured(const captured_run_request& request, const environment_changes& more) {
  const captured_output output;
  if (output.descriptor() < 0) return fail("cannot keep output: {}", std::strerror(errno));
  const pid_t child = fork();
  if (child < 0) return fail("cannot start a process: {}", std::strerror(errno));
  if (child == 0) become(request, more, output.descriptor());

  run_end end;
  end.hung = !wait_for_end(child, request.timeout_ms);
  kill(-child, SIGKILL);  // also what it left behind
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  end.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  end.signal = WIFSIGNALED(status) && !end.hung ? WTERMSIG(status) : 0;
  end.output = output.text();
  return end;
}

result<run_end> run_as_example(const captured_run_request& request, std::string_view unless) {
  auto right = run_captured(request, {});
  if (!right) return right;
  const std::string& program = request.command.front();
  if (right->exit_status == exit_not_found || right->exit_status == exit_not_executable)
    return fail("cannot run {}", program);
  if (right->hung)
    return fail("{} does not end within {} ms even without {}; --timeout gives it longer", program,
                request.timeout_ms, unless);
  if (right->signal != 0 || right->exit_status != 0)
    return fail("{} fails without {} already ({} {}); make it pass first", program, unless,
                right->signal != 0 ? "signal" : "exit status",
                right->signal != 0 ? right->signal : right->exit_status);
  return right;
}

}  // namespace zevent::launch
