#include "report/latency_histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace zevent::report {
namespace {

// Each power of two is cut into this many buckets.
constexpr unsigned fraction_bits = 6;
constexpr uint64_t buckets_per_octave = uint64_t{1} << fraction_bits;
constexpr uint64_t exact_below = 2 * buckets_per_octave;

}  // namespace

size_t latency_histogram::bucket_of(uint64_t ns) {
  if (ns < exact_below) return static_cast<size_t>(ns);
  const auto shift = static_cast<unsigned>(std::bit_width(ns)) - fraction_bits - 1;
  return static_cast<size_t>(buckets_per_octave * shift + (ns >> shift));
}

uint64_t latency_histogram::middle_of(size_t bucket) {
  if (bucket < exact_below) return bucket;
  const uint64_t shift = bucket / buckets_per_octave - 1;
  const uint64_t lowest = (bucket - buckets_per_octave * shift) << shift;
  return lowest + (uint64_t{1} << shift) / 2;
}

void latency_histogram::add(uint64_t ns) {
  const size_t bucket = bucket_of(ns);
  if (bucket >= buckets_.size()) buckets_.resize(bucket + 1);
  ++buckets_[bucket];
  ++count_;
  total_ns_ += ns;
  least_ns_ = std::min(least_ns_, ns);
  most_ns_ = std::max(most_ns_, ns);
}

uint64_t latency_histogram::percentile_ns(double percent) const {
  if (count_ == 0) return 0;
  const auto rank = std::max<uint64_t>(
      1, static_cast<uint64_t>(std::ceil(percent / 100 * static_cast<double>(count_))));
  uint64_t seen = 0;
  for (size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    seen += buckets_[bucket];
    if (rank == count_ && seen == count_) return most_ns_;
    if (seen >= rank) return std::clamp(middle_of(bucket), least_ns_, most_ns_);
  }
  return most_ns_;
}

}  // namespace zevent::report
