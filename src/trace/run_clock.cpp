#include "trace/run_clock.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace zevent::trace {
namespace {

// 10 MHz to 100 GHz; outside of it a slope comes from damaged bytes.
bool is_plausible(double ns_per_tick) {
  return ns_per_tick >= 0.01 && ns_per_tick <= 100;
}

constexpr double default_ns_per_tick = 1;

// A clock is read with an error of some 100 ns. Over this distance that is no more than the drift
// which the calibrations are there to correct.
constexpr uint64_t min_clock_distance_ns = 10'000'000;

// Times beyond this come from damaged bytes.
constexpr uint64_t latest_ns = uint64_t{1} << 63;

// Only the distance goes through a double: it is small, and the base keeps all of its digits.
uint64_t shift(uint64_t base, double distance) {
  if (distance <= -static_cast<double>(latest_ns)) return 0;
  if (distance < 0) return base - std::min(base, static_cast<uint64_t>(std::llround(-distance)));
  if (distance >= static_cast<double>(latest_ns)) return latest_ns;
  return std::min(latest_ns, base + static_cast<uint64_t>(std::llround(distance)));
}

std::string fact_of(const recording_part& part, std::string_view name) {
  for (const auto& [key, value] : part.facts())
    if (key == name) return value;
  return {};
}

}  // namespace

tick_line::tick_line(std::vector<recording::calibration_record> records, uint64_t origin_ticks,
                     uint64_t ticks_per_second) {
  std::erase_if(records, [](const auto& each) {
    return each.monotonic_raw_ns >= latest_ns / 4 || each.realtime_ns >= latest_ns / 2 ||
           each.ticks >= latest_ns;
  });
  std::sort(records.begin(), records.end(),
            [](const auto& a, const auto& b) { return a.ticks < b.ticks; });
  const double estimate = 1e9 / static_cast<double>(std::max<uint64_t>(ticks_per_second, 1));
  double slope = is_plausible(estimate) ? estimate : default_ns_per_tick;
  for (const auto& each : records) {
    if (!points_.empty()) {
      auto& last = points_.back();
      if (each.monotonic_raw_ns < last.ns + min_clock_distance_ns || each.ticks == last.ticks)
        continue;
      const double between = static_cast<double>(each.monotonic_raw_ns - last.ns) /
                             static_cast<double>(each.ticks - last.ticks);
      if (!is_plausible(between)) continue;
      last.ns_per_tick = slope = between;
    }
    points_.push_back({each.ticks, each.monotonic_raw_ns, slope});
  }
  if (points_.empty()) points_.push_back({origin_ticks, latest_ns / 4, slope});

  // From here on the axis is the time of day. A machine runs for less long than since 1970.
  if (records.empty()) return;
  const auto& first = records.front();
  const uint64_t offset =
      std::max(first.realtime_ns, first.monotonic_raw_ns) - first.monotonic_raw_ns;
  for (auto& each : points_) each.ns += offset;
}

uint64_t tick_line::to_ns(uint64_t ticks) const {
  auto behind = std::upper_bound(points_.begin(), points_.end(), ticks,
                                 [](uint64_t t, const point& each) { return t < each.ticks; });
  const auto& from = behind == points_.begin() ? *behind : *std::prev(behind);
  const double distance = ticks >= from.ticks ? static_cast<double>(ticks - from.ticks)
                                              : -static_cast<double>(from.ticks - ticks);
  return shift(from.ns, distance * from.ns_per_tick);
}

run_clock::run_clock(std::span<const recording_part* const> parts) {
  // Which clock a part's ticks are of: host, boot, kind.
  using clock_name = std::tuple<std::string, std::string, uint32_t>;
  std::map<clock_name, std::vector<size_t>> parts_of;
  for (size_t i = 0; i < parts.size(); ++i)
    parts_of[{parts[i]->host(), fact_of(*parts[i], "boot"),
              static_cast<uint32_t>(parts[i]->header().clock)}]
        .push_back(i);

  line_of_part_.resize(parts.size());
  for (const auto& [name, members] : parts_of) {
    std::vector<recording::calibration_record> points;
    for (const size_t i : members) {
      line_of_part_[i] = lines_.size();
      const auto own = parts[i]->calibrations();
      points.insert(points.end(), own.begin(), own.end());
    }
    const auto& first = parts[members.front()]->header();
    lines_.emplace_back(std::move(points), first.open_ticks, first.ticks_per_second);
  }
}

}  // namespace zevent::trace
