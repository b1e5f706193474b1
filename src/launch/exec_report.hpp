#pragma once

#include <string>

#include "base/result.hpp"

namespace zevent::launch {

// Tells the parent why its child could not become a program: a pipe that closes by itself when exec
// succeeds, and carries errno when it fails. Made before fork().
class exec_report {
 public:
  exec_report();
  ~exec_report();
  exec_report(const exec_report&) = delete;
  exec_report& operator=(const exec_report&) = delete;

  // Whether there is a pipe; else errno says why not.
  bool is_open() const { return ends_[0] >= 0; }

  void tell(int error) const;  // in the child
  // In the parent: waits until the child is the program, or has told. 0 when all is well.
  int wait();

 private:
  int ends_[2] = {-1, -1};
};

// "cannot run ./program: ..."
std::string exec_problem(const std::string& program, int error);

}  // namespace zevent::launch
