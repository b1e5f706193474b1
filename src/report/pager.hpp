#pragma once

#include <sys/types.h>

namespace zevent::report {

// Sends standard output through $PAGER, or less, while it lives. Does nothing where standard output
// is not a terminal, or PAGER is "cat" or empty. Once the user has left it, writing fails (EPIPE).
class pager {
 public:
  pager();
  // Lets the user read to the end.
  ~pager();
  pager(const pager&) = delete;
  pager& operator=(const pager&) = delete;

  bool running() const { return process_ > 0; }

 private:
  pid_t process_ = -1;
  int terminal_ = -1;  // what standard output was
};

}  // namespace zevent::report
