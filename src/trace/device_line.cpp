#include "trace/device_line.hpp"

#include <algorithm>
#include <cmath>

#include "trace/call.hpp"

namespace zevent::trace {
namespace {

// A clock is read with an error of some 100 ns. Over this distance that is no more than the drift
// which the comparisons are there to correct.
constexpr uint64_t min_line_ns = 10'000'000;

// By how much the host and the device may differ about when something was.
constexpr double most_error_ns = 1'000'000;

// 100 Hz to 100 GHz; outside of it a rate comes from damaged bytes.
bool is_plausible_rate(double timestamps_per_ns) {
  return timestamps_per_ns >= 1e-7 && timestamps_per_ns <= 100;
}

// The device may count faster or slower than it says, but not by much.
bool is_near(double rate, double nominal) {
  return rate > nominal * 0.99 && rate < nominal * 1.01;
}

uint64_t mask_of(uint32_t bits) {
  return bits == 0 || bits >= 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
}

double distance(uint64_t from, uint64_t to) {
  return to >= from ? static_cast<double>(to - from) : -static_cast<double>(from - to);
}

// Modulo 2^64, as timestamps that were unwrapped are.
uint64_t moved(uint64_t from, double by) {
  constexpr double most = 9e18;
  return from + static_cast<uint64_t>(std::llround(std::clamp(by, -most, most)));
}

uint64_t moved_time(uint64_t from_ns, double by_ns) {
  if (by_ns < 0) return from_ns - std::min(from_ns, static_cast<uint64_t>(std::min(-by_ns, 9e18)));
  return from_ns + static_cast<uint64_t>(std::min(by_ns, 4e18));
}

}  // namespace

device_line::device_line(std::span<const recording::device_clock_record> comparisons,
                         const tick_line& host) {
  std::vector<recording::device_clock_record> sorted(comparisons.begin(), comparisons.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.ticks < b.ticks; });
  if (sorted.empty()) return;
  const auto& first = sorted.front();
  const uint64_t global_mask = mask_of(first.valid_bits);
  mask_ = std::min(mask_of(first.kernel_valid_bits), global_mask);
  double nominal = static_cast<double>(first.timestamps_per_second) / 1e9;
  if (!is_plausible_rate(nominal)) nominal = 1;

  for (const auto& each : sorted) {
    point next{host.to_ns(each.ticks), each.timestamp & global_mask, nominal};
    if (!points_.empty()) {
      point& last = points_.back();
      if (next.ns < last.ns + min_line_ns) continue;
      const double expected = static_cast<double>(next.ns - last.ns) * last.timestamps_per_ns;
      const uint64_t seen = (each.timestamp - last.timestamp) & global_mask;
      const double period = static_cast<double>(global_mask) + 1;
      const double wraps =
          std::max(0.0, std::round((expected - static_cast<double>(seen)) / period));
      const auto counted = seen + (global_mask + 1) * static_cast<uint64_t>(std::min(wraps, 1e9));
      const double rate = static_cast<double>(counted) / static_cast<double>(next.ns - last.ns);
      next.timestamp = last.timestamp + counted;
      if (is_near(rate, nominal)) last.timestamps_per_ns = next.timestamps_per_ns = rate;
    }
    points_.push_back(next);
  }
}

uint64_t device_line::timestamp_at(uint64_t ns) const {
  const auto behind = std::upper_bound(points_.begin(), points_.end(), ns,
                                       [](uint64_t t, const point& each) { return t < each.ns; });
  const point& from = behind == points_.begin() ? *behind : *std::prev(behind);
  return moved(from.timestamp, distance(from.ns, ns) * from.timestamps_per_ns);
}

// The difference to a point tells by its sign on which side of it a timestamp is.
uint64_t device_line::ns_at(uint64_t timestamp) const {
  const auto behind = std::partition_point(points_.begin(), points_.end(), [&](const point& each) {
    return static_cast<int64_t>(timestamp - each.timestamp) >= 0;
  });
  const point& from = behind == points_.begin() ? *behind : *std::prev(behind);
  const auto since = static_cast<int64_t>(timestamp - from.timestamp);
  return moved_time(from.ns, static_cast<double>(since) / from.timestamps_per_ns);
}

device_line::interval device_line::to_ns(uint64_t start, uint64_t end, uint64_t earliest_ns,
                                         uint64_t latest_ns) const {
  if (points_.empty()) return {};
  const double rate = points_.front().timestamps_per_ns;
  const double period = static_cast<double>(mask_) + 1;
  const uint64_t slack = static_cast<uint64_t>(std::min(most_error_ns * rate + 2, period / 8));
  const uint64_t from = timestamp_at(earliest_ns) - slack;
  const uint64_t until = timestamp_at(latest_ns) + slack;
  // Known within one period it is the last that fits; else, most likely, the first.
  const bool is_certain = distance(from, until) < period;
  const uint64_t ended =
      is_certain ? until - ((until - end) & mask_) : from + ((end - from) & mask_);
  const uint64_t began = ended - ((end - start) & mask_);
  interval found{ns_at(began), ns_at(ended)};
  found.end_ns = std::max(found.end_ns, found.start_ns);
  return found;
}

}  // namespace zevent::trace
