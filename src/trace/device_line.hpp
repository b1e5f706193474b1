#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "api/recording_format.hpp"
#include "trace/run_clock.hpp"

namespace zevent::trace {

// Turns timestamps of one device into nanoseconds of the run's axis.
//
// The device's clock was compared with the host's now and then; between two comparisons times are
// interpolated. Both kinds of timestamps wrap: of comparisons the rate of the clock tells how
// often, of a command the host times between which it ran.
class device_line {
 public:
  device_line(std::span<const recording::device_clock_record> comparisons, const tick_line& host);

  struct interval {
    uint64_t start_ns = 0;
    uint64_t end_ns = 0;
  };
  // The command ran after `earliest_ns` and before `latest_ns`.
  interval to_ns(uint64_t start, uint64_t end, uint64_t earliest_ns, uint64_t latest_ns) const;

  bool is_usable() const { return !points_.empty(); }

 private:
  struct point {
    uint64_t ns = 0;
    uint64_t timestamp = 0;        // as if it did not wrap
    double timestamps_per_ns = 1;  // from here on
  };
  uint64_t timestamp_at(uint64_t ns) const;
  uint64_t ns_at(uint64_t timestamp) const;

  std::vector<point> points_;  // by time
  uint64_t mask_ = 0;          // of a command's timestamps
};

}  // namespace zevent::trace
