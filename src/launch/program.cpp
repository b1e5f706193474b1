#include "launch/program.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

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

std::string exec_problem(const std::string& program, int error) {
  return fmt::format("cannot run {}: {}", program, std::strerror(error));
}

// Written by run_program, read by the signal handler; lock-free, so safe there.
std::atomic<pid_t> child_of_handler{0};
static_assert(std::atomic<pid_t>::is_always_lock_free);

void pass_on(int signal_number) {
  const pid_t child = child_of_handler.load(std::memory_order_relaxed);
  if (child > 0) kill(child, signal_number);
}

constexpr std::array passed_on_signals = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
constexpr std::array keyboard_signals = {SIGINT, SIGQUIT};

// While it lives, keyboard signals are ignored and the others go to the child.
class signal_forwarding {
 public:
  signal_forwarding() {
    struct sigaction forward {};
    forward.sa_handler = pass_on;
    for (size_t i = 0; i < passed_on_signals.size(); ++i)
      sigaction(passed_on_signals[i], &forward, &previous_passed_[i]);
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    for (size_t i = 0; i < keyboard_signals.size(); ++i)
      sigaction(keyboard_signals[i], &ignore, &previous_keyboard_[i]);
  }
  signal_forwarding(const signal_forwarding&) = delete;
  signal_forwarding& operator=(const signal_forwarding&) = delete;
  ~signal_forwarding() { restore(); }

  // Also called by the child before exec, so that it inherits what the user had set.
  void restore() const {
    for (size_t i = 0; i < passed_on_signals.size(); ++i)
      sigaction(passed_on_signals[i], &previous_passed_[i], nullptr);
    for (size_t i = 0; i < keyboard_signals.size(); ++i)
      sigaction(keyboard_signals[i], &previous_keyboard_[i], nullptr);
  }

 private:
  std::array<struct sigaction, passed_on_signals.size()> previous_passed_{};
  std::array<struct sigaction, keyboard_signals.size()> previous_keyboard_{};
};

program_end interpret(int status) {
  if (WIFSIGNALED(status))
    return {128 + WTERMSIG(status), WTERMSIG(status), WCOREDUMP(status) != 0};
  return {WEXITSTATUS(status), 0, false};
}

}  // namespace

failure become_program(const std::vector<std::string>& command,
                       const environment_changes& changes) {
  apply(changes);
  auto arguments = pointers_to(command);
  execvp(arguments[0], arguments.data());
  return {exec_problem(command[0], errno)};
}

int exit_status_of_failed_start(const std::string& program) {
  // As shells have it: a file that is there and may not be run is not missing.
  const bool is_there =
      program.find('/') != std::string::npos && access(program.c_str(), F_OK) == 0;
  return is_there || !find_in_path(program).empty() ? exit_not_executable : exit_not_found;
}

result<program_end> run_program(const std::vector<std::string>& command,
                                const environment_changes& changes) {
  // The pipe closes by itself when exec succeeds, and carries errno when it fails.
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return fail("cannot make a pipe: {}", std::strerror(errno));

  const signal_forwarding forwarding;
  // A signal that comes before the handler knows the child waits until it does.
  sigset_t held_back, before;
  sigemptyset(&held_back);
  for (const int each : passed_on_signals) sigaddset(&held_back, each);
  sigprocmask(SIG_BLOCK, &held_back, &before);
  const pid_t child = fork();
  if (child < 0) {
    const int error = errno;
    sigprocmask(SIG_SETMASK, &before, nullptr);
    close(report[0]);
    close(report[1]);
    return fail("cannot start a process: {}", std::strerror(error));
  }
  if (child == 0) {
    forwarding.restore();
    sigprocmask(SIG_SETMASK, &before, nullptr);
    apply(changes);
    auto arguments = pointers_to(command);
    execvp(arguments[0], arguments.data());
    const int error = errno;
    [[maybe_unused]] const auto written = write(report[1], &error, sizeof error);
    _exit(error == ENOENT ? exit_not_found : exit_not_executable);
  }
  child_of_handler.store(child, std::memory_order_relaxed);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  close(report[1]);
  int exec_error = 0;
  ssize_t told = 0;
  do told = read(report[0], &exec_error, sizeof exec_error);
  while (told < 0 && errno == EINTR);
  const bool exec_failed = told == sizeof exec_error;
  close(report[0]);

  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  child_of_handler.store(0, std::memory_order_relaxed);
  if (exec_failed) return fail("{}", exec_problem(command[0], exec_error));
  return interpret(status);
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
