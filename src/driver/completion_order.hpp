#pragma once

#include <cstddef>
#include <cstdint>

namespace zevent::driver {

// Chooses where the specification leaves the order open: commands of a list that is not in-order
// are started in the order of their appends, but complete in any order. A stream keeps commands
// that it has started and not completed; this decides how many, and which is next.
class completion_order {
 public:
  // May a further command be started while `in_flight` are?
  virtual bool starts_another(size_t in_flight) = 0;
  // Which of the `in_flight` commands, oldest first, completes next?
  virtual size_t completes_next(size_t in_flight) = 0;
  // How long to wait for further commands before one is completed.
  virtual uint64_t lingers_ns() = 0;
  // How long to wait after an event was signalled while older commands are still in flight.
  virtual uint64_t head_start_ns() = 0;

  virtual ~completion_order() = default;
};

// Straight through: each command completes before the next starts.
class sequential_completion final : public completion_order {
 public:
  bool starts_another(size_t in_flight) override { return in_flight == 0; }
  size_t completes_next(size_t) override { return 0; }
  uint64_t lingers_ns() override { return 0; }
  uint64_t head_start_ns() override { return 0; }
};

}  // namespace zevent::driver
