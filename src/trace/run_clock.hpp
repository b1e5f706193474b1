#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "api/recording_format.hpp"
#include "trace/recording_part.hpp"

namespace zevent::trace {

// Turns ticks of one clock into nanoseconds of CLOCK_REALTIME as it was at the first calibration:
// steps of that clock during the run do not show.
//
// Between two calibrations ticks are interpolated; outside of them the nearest slope goes on; with
// one calibration, or none, the estimate of the rate is all there is.
class tick_line {
 public:
  tick_line(std::vector<recording::calibration_record> points, uint64_t origin_ticks,
            uint64_t ticks_per_second);

  uint64_t to_ns(uint64_t ticks) const;

 private:
  struct point {
    uint64_t ticks = 0;
    uint64_t ns = 0;
    double ns_per_tick = 0;  // from here on
  };
  std::vector<point> points_;  // by ticks, at least one
};

// The clocks of a run. Processes of one host share a clock, and so their calibrations; hosts are
// put on one axis by their idea of the time of day.
class run_clock {
 public:
  explicit run_clock(std::span<const recording_part* const> parts);

  const tick_line& line_of(size_t part) const { return lines_[line_of_part_[part]]; }

 private:
  std::vector<tick_line> lines_;
  std::vector<size_t> line_of_part_;
};

}  // namespace zevent::trace
