#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <string>
#include <utility>

namespace zevent::launch {

// While it lives, signals that were sent to this process are meant for the program that it runs:
// requests to end (INT, QUIT, TERM, HUP), USR1 and USR2 are passed on to it and do not end this
// process. What the terminal sends reaches the program by itself, being sent to all processes that
// are in the foreground, and is not passed on; but for the end of the terminal, where this process
// leads the session. (Who sends a signal to a whole process group by
// kill() reaches the program twice: nobody tells that from a signal to this process alone.)
//
// There is one at a time.
class signal_relay {
 public:
  signal_relay();
  signal_relay(const signal_relay&) = delete;
  signal_relay& operator=(const signal_relay&) = delete;
  ~signal_relay();

  // From here on signals go to this process; a request to end that came before it was there does
  // too.
  void begin(pid_t program);
  // From here on there is no program.
  void end();

  // How many requests to end came while there was no program to pass them on to, from anybody.
  static unsigned requests_to_end();

  // For the program before exec, so that it starts with what this process had.
  void restore() const;

  // The signals that are passed on.
  static sigset_t signals();

 private:
  static constexpr std::array passed_on = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

  std::array<struct sigaction, passed_on.size()> before_{};
  struct sigaction child_before_ {
  }, pipe_before_{};
};

// Tells when this process was asked to end for the second time since this was made. The first time
// may have been meant for the program that has just ended: it is answered with a hint on stderr.
class second_request {
 public:
  explicit second_request(std::string hint)
      : hint_(std::move(hint)), before_(signal_relay::requests_to_end()) {}

  bool came();

 private:
  std::string hint_;  // empty: none, or it was given
  unsigned before_;
};

}  // namespace zevent::launch
