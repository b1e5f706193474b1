#include "launch/interruption.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <array>

namespace zevent::launch {
namespace {

constexpr std::array ending_signals = {SIGINT, SIGTERM, SIGHUP};

// A blocked signal arrives even when it is ignored, as in a background job of a script.
sigset_t requests_to_end() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int each : ending_signals) {
    struct sigaction current {};
    if (sigaction(each, nullptr, &current) == 0 && current.sa_handler != SIG_IGN)
      sigaddset(&signals, each);
  }
  return signals;
}

}  // namespace

interruption::interruption() {
  const sigset_t awaited = requests_to_end();
  sigprocmask(SIG_BLOCK, &awaited, &before_);
  descriptor_ = signalfd(-1, &awaited, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor_ < 0) restore_signals();
}

interruption::~interruption() {
  // Taken before they are let through again, or they would end this process now.
  signalfd_siginfo request{};
  while (descriptor_ >= 0 && read(descriptor_, &request, sizeof request) == sizeof request) {
  }
  if (descriptor_ >= 0) close(descriptor_);
  restore_signals();
}

int interruption::signal() const {
  sigset_t pending;
  if (descriptor_ < 0 || sigpending(&pending) != 0) return 0;
  for (const int each : ending_signals)
    if (sigismember(&pending, each) == 1) return each;
  return 0;
}

void interruption::restore_signals() const {
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace zevent::launch
