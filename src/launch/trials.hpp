#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/result.hpp"
#include "launch/captured_run.hpp"

namespace zevent::launch {

// How one run of a program ended, as far as a trial tells runs apart.
enum class trial_end { same, failed, crashed, hung, output_differs };

// What the runs with a seed, or those without, came to.
struct trial_counts {
  uint64_t runs = 0;
  uint64_t failed = 0;   // ended with an exit status other than 0
  uint64_t crashed = 0;  // ended by a signal
  uint64_t hung = 0;     // ended by us, after the time limit
  // Ended well, and printed otherwise than the first plain run that did.
  uint64_t output_differs = 0;

  void add(trial_end end);
};

struct trial_report {
  trial_counts plain;
  trial_counts chaos;
  std::optional<uint64_t> first_failing_seed;       // failed, crashed or hung
  std::optional<uint64_t> first_other_output_seed;  // ended as it should, with other output
  uint64_t untouched = 0;                           // runs under chaos that did not use the driver
  int interrupted_by = 0;                           // the signal that ended the trial early, or 0

  // Output says nothing where it is not always the same without chaos either.
  bool output_counts() const { return plain.output_differs == 0; }
  bool never_met_the_driver() const { return chaos.runs > 0 && untouched == chaos.runs; }
  bool always_fails_plainly() const {
    return plain.runs > 0 && plain.failed + plain.crashed + plain.hung == plain.runs;
  }
  uint64_t bad(const trial_counts& counts) const {
    return counts.failed + counts.crashed + counts.hung +
           (output_counts() ? counts.output_differs : 0);
  }
  std::optional<uint64_t> first_bad_seed() const;
};

struct trial_request {
  captured_run_request run;
  uint64_t seeds = 100;  // 1 to N
};

// Runs the program N times plainly and N times under chaos with the seeds 1 to N, in turn, until it
// is interrupted. The first plain run that succeeds says what output is right. An error when the
// program cannot be started, or the first plain run does not end. `progress` is told after each run
// how many are done, of how many.
result<trial_report> run_trials(const trial_request& request,
                                const std::function<void(uint64_t, uint64_t)>& progress);

}  // namespace zevent::launch
