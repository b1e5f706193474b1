#include "launch/signal_relay.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "base/invariant.hpp"
#include "base/message.hpp"

namespace zevent::launch {
namespace {

// Shared with the signal handler; lock-free, so safe there. Each stands for itself: nothing else is
// published by them.
std::atomic<pid_t> program_of_handler{0};
std::atomic<unsigned> unheard_requests{0};
std::atomic<int> last_request{0};
std::atomic<bool> relay_exists{false};
static_assert(std::atomic<pid_t>::is_always_lock_free &&
              std::atomic<unsigned>::is_always_lock_free);

void on_signal(int number, siginfo_t* about, void*) {
  const int error = errno;
  const pid_t program = program_of_handler.load(std::memory_order_relaxed);
  if (program > 0) {
    // The kernel's own are those of the terminal. That it is gone is told to the leader of the
    // session alone, and not to the others as long as the leader lives.
    const bool reaches_program =
        about->si_code == SI_KERNEL && !(number == SIGHUP && getsid(0) == getpid());
    if (!reaches_program) kill(program, number);
  } else if (number != SIGUSR1 && number != SIGUSR2) {
    last_request.store(number, std::memory_order_relaxed);
    unheard_requests.fetch_add(1, std::memory_order_relaxed);
  }
  errno = error;
}

}  // namespace

signal_relay::signal_relay() {
  ZEVENT_INVARIANT(!relay_exists.exchange(true));
  unheard_requests.store(0, std::memory_order_relaxed);
  struct sigaction relay {};
  relay.sa_sigaction = on_signal;
  relay.sa_flags = SA_SIGINFO;
  for (size_t i = 0; i < passed_on.size(); ++i) sigaction(passed_on[i], &relay, &before_[i]);
  // Where it is ignored, as some parents leave it, nobody is told how a child ended.
  struct sigaction as_usual {};
  as_usual.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &as_usual, &child_before_);
  // Nobody may be left to read what is said at the end.
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &pipe_before_);
}

signal_relay::~signal_relay() {
  restore();
  relay_exists.store(false);
}

void signal_relay::begin(pid_t program) {
  program_of_handler.store(program, std::memory_order_relaxed);
  if (unheard_requests.exchange(0, std::memory_order_relaxed) != 0)
    kill(program, last_request.load(std::memory_order_relaxed));
}

void signal_relay::end() {
  program_of_handler.store(0, std::memory_order_relaxed);
}

unsigned signal_relay::requests_to_end() {
  return unheard_requests.load(std::memory_order_relaxed);
}

void signal_relay::restore() const {
  for (size_t i = 0; i < passed_on.size(); ++i) sigaction(passed_on[i], &before_[i], nullptr);
  sigaction(SIGCHLD, &child_before_, nullptr);
  sigaction(SIGPIPE, &pipe_before_, nullptr);
}

bool second_request::came() {
  const unsigned since = signal_relay::requests_to_end() - before_;
  if (since == 1 && !hint_.empty()) {
    say("{}", hint_);
    hint_.clear();
  }
  return since > 1;
}

sigset_t signal_relay::signals() {
  sigset_t all;
  sigemptyset(&all);
  for (const int each : passed_on) sigaddset(&all, each);
  return all;
}

}  // namespace zevent::launch
