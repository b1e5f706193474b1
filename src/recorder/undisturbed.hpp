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
  undisturbed() {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_);
    sigset_t all;
    sigfillset(&all);
    // A thread that crashes in here crashes now.
    for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT})
      sigdelset(&all, signal);
    pthread_sigmask(SIG_SETMASK, &all, &signals_);
  }
  ~undisturbed() {
    pthread_sigmask(SIG_SETMASK, &signals_, nullptr);
    pthread_setcancelstate(cancel_state_, nullptr);
  }
  undisturbed(const undisturbed&) = delete;
  undisturbed& operator=(const undisturbed&) = delete;

 private:
  sigset_t signals_;
  int cancel_state_ = 0;
};

}  // namespace zevent::recorder
