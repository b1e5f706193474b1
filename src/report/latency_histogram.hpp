#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zevent::report {

// Durations counted in buckets whose width grows with the value: exact below 128 ns, within 0.8 %
// above, whatever the number of calls. Sum, least and most are exact.
class latency_histogram {
 public:
  void add(uint64_t ns);

  uint64_t count() const { return count_; }
  uint64_t total_ns() const { return total_ns_; }
  uint64_t least_ns() const { return count_ == 0 ? 0 : least_ns_; }
  uint64_t most_ns() const { return most_ns_; }
  uint64_t mean_ns() const { return count_ == 0 ? 0 : total_ns_ / count_; }

  // The smallest duration that is not exceeded by `percent` of all; 0 when there are none.
  uint64_t percentile_ns(double percent) const;

 private:
  static size_t bucket_of(uint64_t ns);
  static uint64_t middle_of(size_t bucket);

  uint64_t count_ = 0;
  uint64_t total_ns_ = 0;
  uint64_t least_ns_ = UINT64_MAX;
  uint64_t most_ns_ = 0;
  std::vector<uint64_t> buckets_;  // grown as needed
};

}  // namespace zevent::report
