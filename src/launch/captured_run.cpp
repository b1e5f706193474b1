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
#include <iterator>

#include "launch/exec_report.hpp"
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
                         int output, const exec_report& report) {
  setpgid(0, 0);  // so that a run that hangs can be ended with all it started
  const int nothing = open("/dev/null", O_RDWR);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  if (request.ends_early != nullptr) request.ends_early->restore_signals();
  environment_changes changes = request.environment;
  changes.insert(changes.end(), more.begin(), more.end());
  changes.emplace_back("ZEVENT_LOG", "");  // outputs are compared
  become_program(request.command, changes);
  report.tell(errno);
  _exit(exit_not_executable);
}

enum class wait_end { program_ended, time_over, interrupted };

wait_end wait_for_end(pid_t child, const captured_run_request& request) {
  const auto descriptor = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  if (descriptor < 0) return wait_end::program_ended;  // without it there is no limit
  const bool may_be_interrupted = request.ends_early != nullptr;
  pollfd ends[] = {{descriptor, POLLIN, 0},
                   {may_be_interrupted ? request.ends_early->descriptor() : -1, POLLIN, 0}};
  int ready = 0;
  do {
    ready = poll(ends, std::size(ends), static_cast<int>(request.timeout_ms));
  } while (ready < 0 && errno == EINTR);
  close(descriptor);
  if (ready == 0) return wait_end::time_over;
  return ends[1].revents != 0 ? wait_end::interrupted : wait_end::program_ended;
}

}  // namespace

result<run_end> run_captured(const captured_run_request& request, const environment_changes& more) {
  const captured_output output;
  if (output.descriptor() < 0) return fail("cannot keep output: {}", std::strerror(errno));
  exec_report report;
  if (!report.is_open()) return fail("cannot make a pipe: {}", std::strerror(errno));
  const pid_t child = fork();
  if (child < 0) return fail("cannot start a process: {}", std::strerror(errno));
  if (child == 0) become(request, more, output.descriptor(), report);
  if (const int error = report.wait(); error != 0) {
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    return fail("{}", exec_problem(request.command.front(), error));
  }

  run_end end;
  const wait_end waited = wait_for_end(child, request);
  end.hung = waited == wait_end::time_over;
  if (waited == wait_end::interrupted) end.interrupted_by = request.ends_early->signal();
  kill(-child, SIGKILL);  // also what it left behind
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  end.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  const bool ended_by_us = end.hung || end.interrupted_by != 0;
  end.signal = WIFSIGNALED(status) && !ended_by_us ? WTERMSIG(status) : 0;
  end.output = output.text();
  return end;
}

tl::unexpected<failure> hung_already(const captured_run_request& request, std::string_view unless) {
  return fail("{} does not end within {} ms even without {}; --timeout gives it longer",
              request.command.front(), request.timeout_ms, unless);
}

result<run_end> run_as_example(const captured_run_request& request, std::string_view unless) {
  auto right = run_captured(request, {});
  if (!right || right->interrupted_by != 0) return right;
  if (right->hung) return hung_already(request, unless);
  if (right->signal == 0 && right->exit_status == 0) return right;
  return fail("{} fails without {} already ({} {}); make it pass first", request.command.front(),
              unless, right->signal != 0 ? "signal" : "exit status",
              right->signal != 0 ? right->signal : right->exit_status);
}

}  // namespace zevent::launch
