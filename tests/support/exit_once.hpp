#pragma once

#include <cstdlib>
#include <mutex>

// exit() may be called once only, and several threads may find at once that a call failed: the
// first one ends the program, the others wait for the end.
[[noreturn]] inline void exit_once(int status) {
  static std::mutex& forever = *new std::mutex;
  forever.lock();
  std::exit(status);
}
