#pragma once

#include <signal.h>

namespace zevent::launch {

// While it lives, Ctrl-C and the other requests to end do not end this process but can be waited
// for: what was found so far is then told before the end. Requests that were ignored stay ignored.
class interruption {
 public:
  interruption();
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;
  ~interruption();

  // Readable from the first request on; -1 when requests end this process as ever.
  int descriptor() const { return descriptor_; }

  // The signal that asked to end, or 0.
  int signal() const;

  // For a child before exec, so that it starts with the signals that this process had.
  void restore_signals() const;

 private:
  sigset_t before_{};
  int descriptor_ = -1;
};

}  // namespace zevent::launch
