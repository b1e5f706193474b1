#pragma once

#include <cstddef>

namespace zevent::driver {

class stream;

// Chooses where the specification leaves the order open: commands of a list that is not in-order
// are started in the order of their appends, but complete in any order. A stream keeps commands
// that it has started and not completed; this decides how many, which is next, and when.
class completion_order {
 public:
  // May a further command be started while `in_flight` are?
  virtual bool starts_another(size_t in_flight) = 0;
  // Which of the `in_flight` commands, oldest first, completes next?
  virtual size_t completes_next(size_t in_flight) = 0;

  // There is something to do for the stream, which was idle or whose next command waited for
  // something. Called before it runs, by whatever thread.
  virtual void wake() {}
  // There is nothing to do.
  virtual void rest() {}
  // The stream runs, after it was woken.
  virtual void begin() {}
  // Returns when one more command of the stream is to be executed. Called by the thread that runs
  // it; more may be submitted meanwhile.
  virtual void hold_back(stream& held) = 0;
  // A command has been executed and its signal is about to be seen.
  virtual void before_signal() {}

  virtual ~completion_order() = default;
};

// Straight through: each command completes before the next starts.
class sequential_completion final : public completion_order {
 public:
  bool starts_another(size_t in_flight) override { return in_flight == 0; }
  size_t completes_next(size_t) override { return 0; }
  void hold_back(stream&) override {}
};

}  // namespace zevent::driver
