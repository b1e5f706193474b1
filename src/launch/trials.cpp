#include "launch/trials.hpp"

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

struct run_end {
  int exit_status = 0;
  int signal = 0;
  bool hung = false;
  std::string output;
};

[[noreturn]] void become(const trial_request& request, const environment_changes& more,
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

result<run_end> run_once(const trial_request& request, const environment_changes& more) {
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

trial_end judge(const run_end& end, const run_end& right) {
  if (end.hung) return trial_end::hung;
  if (end.signal != 0) return trial_end::crashed;
  if (end.exit_status != right.exit_status) return trial_end::failed;
  return end.output == right.output ? trial_end::same : trial_end::output_differs;
}

}  // namespace

void trial_counts::add(trial_end end) {
  ++runs;
  switch (end) {
    case trial_end::same:
      break;
    case trial_end::failed:
      ++failed;
      break;
    case trial_end::crashed:
      ++crashed;
      break;
    case trial_end::hung:
      ++hung;
      break;
    case trial_end::output_differs:
      ++output_differs;
      break;
  }
}

result<trial_report> run_trials(const trial_request& request,
                                const std::function<void(uint64_t, uint64_t)>& progress) {
  const auto right = run_once(request, {});
  if (!right) return tl::unexpected(right.error());
  if (right->exit_status == exit_not_found || right->exit_status == exit_not_executable)
    return fail("cannot run {}", request.command.front());
  if (right->hung)
    return fail("{} does not end within {} ms even without chaos; --timeout gives it longer",
                request.command.front(), request.timeout_ms);
  if (right->signal != 0 || right->exit_status != 0)
    return fail("{} fails without chaos already ({} {}); make it pass first",
                request.command.front(), right->signal != 0 ? "signal" : "exit status",
                right->signal != 0 ? right->signal : right->exit_status);

  trial_report report;
  report.plain.add(trial_end::same);
  const uint64_t total = request.seeds * 2;
  progress(1, total);
  for (uint64_t seed = 1; seed <= request.seeds; ++seed) {
    const auto chaotic = run_once(request, {{"ZEVENT_CHAOS", std::to_string(seed)}});
    if (!chaotic) return tl::unexpected(chaotic.error());
    const trial_end end = judge(*chaotic, *right);
    report.chaos.add(end);
    if (end != trial_end::same && !report.first_bad_seed) report.first_bad_seed = seed;
    progress(seed * 2, total);
    if (seed == request.seeds) break;
    const auto plain = run_once(request, {});
    if (!plain) return tl::unexpected(plain.error());
    report.plain.add(judge(*plain, *right));
    progress(seed * 2 + 1, total);
  }
  return report;
}

}  // namespace zevent::launch
