#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/faults.hpp"
#include "launch/captured_run.hpp"

namespace zevent::launch {

// How a program took a fault that struck.
enum class sweep_end { error, unnoticed, other_output, crashed, hung };

struct sweep_counts {
  uint64_t struck = 0;        // runs in which the fault struck
  uint64_t error = 0;         // ended with an exit status that is not 0, as it should
  uint64_t unnoticed = 0;     // ended as if nothing had happened
  uint64_t other_output = 0;  // ended with 0, but printed something else
  uint64_t crashed = 0;
  uint64_t hung = 0;

  uint64_t bad() const { return crashed + hung; }
  void add(sweep_end end);
};

struct sweep_report {
  sweep_counts counts;
  std::optional<uint64_t> first_bad;  // the number given to the fault
  bool reached_the_end = false;       // the last run had no occasion left for the fault to strike
  int interrupted_by = 0;             // the signal that ended the sweep early, or 0
};

struct sweep_request {
  captured_run_request run;
  fault which = fault::out_of_host_memory;
  uint64_t runs = 200;
  std::string other_faults;  // what is on in every run, as in ZEVENT_FAULTS
};

// Whether a fault counts occasions, so that a sweep over them makes sense.
bool can_be_swept(fault which);

// Runs the program once plainly, which says what is right, then with the fault at its first
// occasion, at its second, and so on, until the fault no longer finds one, `runs` are made, or it
// is interrupted. `progress` is told after each how many are done.
result<sweep_report> run_sweep(const sweep_request& request,
                               const std::function<void(uint64_t)>& progress);

}  // namespace zevent::launch
