#pragma once

#include <pthread.h>
#include <signal.h>

namespace zevent::recorder {

// While there is one, no signal handler of the program runs on this thread and nobody cancels it.
//
// For what is done seldom and takes locks, memory or system calls: a handler that made a call, or
// forked, while its own thread holds a lock would wait for itself, and a thread that is cancelled
// inside the recorder would leave by an exception where the program knows of no such point. Signals
// that come meanwhile are delivered afterwards. Takes two system calls.
class undisturbed {
 public:
  struct state {
    sigset_t signals;
    int cancel_state;
  };

  undisturbed() : before_(begin()) {}
  ~undisturbed() { end(before_); }
  undisturbed(const undisturbed&) = delete;
  undisturbed& operator=(const undisturbed&) = delete;

  // The two ends apart, where there is no scope.
  static state begin() {
    state before{};
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before.cancel_state);
    sigset_t all;
    sigfillset(&all);
    // A thread that crashes in here crashes now.
    for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT})
      sigdelset(&all, signal);
    pthread_sigmask(SIG_SETMASK, &all, &before.signals);
    return before;
  }
  static void end(const state& before) {
    pthread_sigmask(SIG_SETMASK, &before.signals, nullptr);
    pthread_setcancelstate(before.cancel_state, nullptr);
  }

 private:
  const state before_;
};

}  // namespace zevent::recorder
