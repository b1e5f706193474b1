#include "report/latency_histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace zevent::report {
namespace {

TEST(latency_histogram, nothing_in_it_gives_zeros) {
  const latency_histogram empty;
  EXPECT_EQ(empty.count(), 0u);
  EXPECT_EQ(empty.mean_ns(), 0u);
  EXPECT_EQ(empty.least_ns(), 0u);
  EXPECT_EQ(empty.percentile_ns(50), 0u);
}

TEST(latency_histogram, one_value_is_every_percentile) {
  latency_histogram one;
  one.add(177'866'123);
  for (const double percent : {0.0, 50.0, 99.0, 100.0})
    EXPECT_EQ(one.percentile_ns(percent), 177'866'123u);
}

TEST(latency_histogram, percentiles_agree_with_sorting_within_their_promise) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 50; ++round) {
    latency_histogram histogram;
    std::vector<uint64_t> values(1 + random() % 3000);
    uint64_t total = 0;
    for (auto& each : values) {
      each = random() >> (24 + random() % 40);
      histogram.add(each);
      total += each;
    }
    std::sort(values.begin(), values.end());
    EXPECT_EQ(histogram.total_ns(), total);
    EXPECT_EQ(histogram.least_ns(), values.front());
    EXPECT_EQ(histogram.most_ns(), values.back());
    for (const double percent : {1.0, 50.0, 90.0, 99.0, 100.0}) {
      const auto rank = static_cast<size_t>(
          std::max(1.0, std::ceil(percent / 100 * static_cast<double>(values.size()))));
      const auto exact = static_cast<double>(values[rank - 1]);
      EXPECT_NEAR(static_cast<double>(histogram.percentile_ns(percent)), exact, exact * 0.008)
          << percent << " % of " << values.size();
    }
  }
}

TEST(latency_histogram, largest_value_fits) {
  latency_histogram histogram;
  histogram.add(UINT64_MAX);
  histogram.add(0);
  EXPECT_EQ(histogram.most_ns(), UINT64_MAX);
  EXPECT_EQ(histogram.percentile_ns(50), 0u);
}

}  // namespace
}  // namespace zevent::report
