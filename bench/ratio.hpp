#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace zevent::bench {

// A machine that others use too gives times that mean little; a ratio of two things measured in
// turns means more. Each is measured in several short rounds, and the median round counts.
template <typename Round>
double measure_ns(Round&& round, uint64_t operations) {
  const auto start = std::chrono::steady_clock::now();
  round();
  const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
  return spent.count() / static_cast<double>(operations);
}

struct comparison {
  double ours_ns;
  double peer_ns;
  double ratio() const { return ours_ns / peer_ns; }
};

// Both in turns, `rounds` times; an operation is what the ratio is of.
template <typename Ours, typename Peer>
comparison compare(int rounds, uint64_t operations, Ours&& ours, Peer&& peer) {
  std::vector<double> ours_ns;
  std::vector<double> peer_ns;
  for (int i = 0; i < rounds; ++i) {
    peer_ns.push_back(measure_ns(peer, operations));
    ours_ns.push_back(measure_ns(ours, operations));
  }
  const auto median = [](std::vector<double>& values) {
    std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2),
                     values.end());
    return values[values.size() / 2];
  };
  return {median(ours_ns), median(peer_ns)};
}

inline void print_heading(const char* title) {
  fmt::print("\n{}\n{:<52} {:>12} {:>12} {:>8}  {}\n", title, "", "ours", "peer", "ratio",
             "target");
}

inline void print_row(const char* what, const comparison& measured, const char* target) {
  const auto text = [](double ns) {
    if (ns < 1e3) return fmt::format("{:.1f} ns", ns);
    if (ns < 1e6) return fmt::format("{:.2f} us", ns / 1e3);
    return fmt::format("{:.2f} ms", ns / 1e6);
  };
  fmt::print("{:<52} {:>12} {:>12} {:>8.2f}  {}\n", what, text(measured.ours_ns),
             text(measured.peer_ns), measured.ratio(), target);
}

}  // namespace zevent::bench
