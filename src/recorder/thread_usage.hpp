#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

// What the kernel knows of threads and what they did with their time: the evidence by which a slow
// call of the driver is told from a call whose thread had no processor.
//
// A reading takes some microseconds. It is taken before a call about once a millisecond, and after
// a call that was slow; a quick call pays nothing. No descriptor is kept: programs fork, close what
// is not theirs, and run out of them. Nothing here allocates, and errno stays as it was.
namespace zevent::recorder {

struct thread_usage {
  uint64_t ticks = 0;          // when it was read; 0: never
  uint64_t processor_ns = 0;   // it has run for so long
  uint64_t run_delay_ns = 0;   // it was ready to run, and had no processor
  bool has_run_delay = false;  // false where the kernel does not tell: no schedstat
  uint32_t minor_faults = 0, major_faults = 0;
  uint32_t voluntary_switches = 0, involuntary_switches = 0;
};

// Of this thread.
thread_usage read_thread_usage();

struct machine_load {
  uint32_t runnable_tasks = 0;  // of the whole machine; 0: not known
  uint32_t processors = 0;      // that this thread may run on; 0: not known
};
machine_load read_machine_load();

// The run-queue delay of the other threads of the process. A call may wait for a lock whose holder,
// an engine thread of the driver for example, has no processor.
//
// To look at all threads takes microseconds for each, so it is done seldom: 0.5 % of the time at
// most, and the first `max_threads` that the kernel lists.
class other_threads {
 public:
  static constexpr size_t max_threads = 64;

  // Of the thread with the longest run-queue delay since the scan before.
  struct delay {
    uint64_t since = 0;  // ticks of that scan
    uint64_t run_delay_ns = 0;
    uint64_t processor_ns = 0;
    uint32_t threads = 0;  // that were there at both scans
  };

  explicit other_threads(uint64_t ticks_per_second);

  // Takes a new baseline where the last one is old. Another thread that is at it is not waited for.
  void refresh(uint64_t now);

  // What became of the others since the baseline, which this replaces. Nothing where there is none,
  // or where the share of the time is spent.
  std::optional<delay> read(uint64_t now);

 private:
  struct entry {
    int thread_id;
    uint64_t processor_ns;
    uint64_t run_delay_ns;
  };
  struct snapshot {
    uint64_t ticks = 0;
    size_t count = 0;
    std::array<entry, max_threads> entries;
  };

  void earn(uint64_t now);
  bool scan(uint64_t now);
  delay compare() const;

  const uint64_t interval_, max_credit_;  // ticks
  std::mutex mutex_;                      // guards what follows
  uint64_t credit_;                       // ticks that scans may take
  uint64_t scan_cost_ = 1;                // ticks that the last scan took
  uint64_t earned_at_ = 0;                // ticks
  snapshot before_, latest_;
};

}  // namespace zevent::recorder
