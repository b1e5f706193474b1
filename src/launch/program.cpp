#include "launch/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iterator>

#include "base/log.hpp"
#include "launch/exec_report.hpp"
#include "launch/process_stat.hpp"

namespace zevent::launch {
namespace {

std::vector<char*> pointers_to(const std::vector<std::string>& command) {
  std::vector<char*> pointers;
  for (const auto& word : command) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

void apply(const environment_changes& changes) {
  for (const auto& [name, value] : changes) setenv(name.c_str(), value.c_str(), 1);
}

program_end interpret(int status) {
  program_end end;
  end.exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end.core_dumped = WIFSIGNALED(status) && WCOREDUMP(status);
  return end;
}

// Waits until the child has ended, and leaves it to be waited for.
void wait_for_end(pid_t child, const side_work& meanwhile) {
  const int descriptor =
      meanwhile.descriptor >= 0 ? static_cast<int>(syscall(SYS_pidfd_open, child, 0)) : -1;
  pollfd happens[] = {{descriptor, POLLIN, 0}, {meanwhile.descriptor, POLLIN, 0}};
  bool ended = descriptor < 0;
  while (!ended) {
    const int ready = poll(happens, std::size(happens), -1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready > 0 && happens[1].revents != 0) meanwhile.act();
    ended = ready < 0 || happens[0].revents != 0;
  }
  if (descriptor >= 0) close(descriptor);
  siginfo_t about{};
  while (waitid(P_PID, static_cast<id_t>(child), &about, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
}

// How the child ended, once it has.
program_end end_of(pid_t child) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const auto stat = read_process_stat(static_cast<uint32_t>(child));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  program_end end = interpret(status);
  end.process_id = static_cast<uint32_t>(child);
  end.process_start = stat ? stat->start : 0;
  end.ended_at_ns =
      static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  return end;
}

}  // namespace

void log_start(const std::vector<std::string>& command, const environment_changes& changes) {
  for (const auto& [name, value] : changes) log_trace("launch", "{}={}", name, value);
  log_trace("launch", "runs {}", fmt::join(command, " "));
}

failure become_program(const std::vector<std::string>& command,
                       const environment_changes& changes) {
  apply(changes);
  auto arguments = pointers_to(command);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  failure problem{exec_problem(command[0], error)};
  errno = error;
  return problem;
}

int exit_status_of_failed_start(const std::string& program) {
  // As shells have it: a file that is there and may not be run is not missing.
  const bool is_there =
      program.find('/') != std::string::npos && access(program.c_str(), F_OK) == 0;
  return is_there || !find_in_path(program).empty() ? exit_not_executable : exit_not_found;
}

result<program_end> run_program(const std::vector<std::string>& command,
                                const environment_changes& changes) {
  signal_relay relay;
  return run_program(command, changes, relay);
}

result<program_end> run_program(const std::vector<std::string>& command,
                                const environment_changes& changes, signal_relay& relay,
                                const side_work& meanwhile) {
  log_start(command, changes);
  exec_report report;
  if (!report.is_open()) return fail("cannot make a pipe: {}", std::strerror(errno));

  // A signal that comes before the relay knows the child waits until it does.
  const sigset_t held_back = signal_relay::signals();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &held_back, &before);
  const pid_t child = fork();
  if (child < 0) {
    const int error = errno;
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return fail("cannot start a process: {}", std::strerror(error));
  }
  if (child == 0) {
    relay.restore();
    sigprocmask(SIG_SETMASK, &before, nullptr);
    apply(changes);
    auto arguments = pointers_to(command);
    execvp(arguments[0], arguments.data());
    report.tell(errno);
    _exit(exit_not_executable);
  }
  relay.begin(child);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  const int exec_error = report.wait();

  wait_for_end(child, meanwhile);
  // Before its number may be another process's.
  relay.end();
  const auto end = end_of(child);
  if (exec_error != 0) return fail("{}", exec_problem(command[0], exec_error));
  return end;
}

void end_like(const program_end& end) {
  if (end.signal != 0) {
    // The program has written its core file, if any; ours would only overwrite it.
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    std::signal(end.signal, SIG_DFL);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, end.signal);
    sigprocmask(SIG_UNBLOCK, &signals, nullptr);
    std::raise(end.signal);
  }
  std::_Exit(end.exit_status);
}

}  // namespace zevent::launch
