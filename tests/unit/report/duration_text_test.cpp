#include "report/duration_text.hpp"

#include <gtest/gtest.h>

#include "report/progress_bar.hpp"

namespace zevent::report {
namespace {

TEST(duration_text, three_digits_and_a_unit) {
  EXPECT_EQ(duration_text(0), "0 ns");
  EXPECT_EQ(duration_text(999), "999 ns");
  EXPECT_EQ(duration_text(1000), "1.00 us");
  EXPECT_EQ(duration_text(9'994), "9.99 us");
  EXPECT_EQ(duration_text(9'996), "10.0 us");
  EXPECT_EQ(duration_text(177'866'000), "178 ms");
  EXPECT_EQ(duration_text(999'600'000), "1.00 s");
  EXPECT_EQ(duration_text(UINT64_MAX), "18446744074 s");
}

TEST(seconds_text, all_nine_digits) {
  EXPECT_EQ(seconds_text(1'000'000'001), "1.000000001");
  EXPECT_EQ(seconds_text(5), "0.000000005");
}

TEST(bytes_text, binary_units) {
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(bytes_text(1536), "1.50 KiB");
  EXPECT_EQ(bytes_text(40'000'000), "38.1 MiB");
  EXPECT_EQ(bytes_text(UINT64_MAX), "16.0 EiB");
}

TEST(progress_line, fills_from_the_left_and_fits) {
  EXPECT_EQ(progress_line("packing", 0, 0, 80), "packing  [" + std::string(40, '.') + "]    0 %");
  EXPECT_EQ(progress_line("packing", 5, 10, 80),
            "packing  [" + std::string(20, '#') + std::string(20, '.') + "]   50 %");
  EXPECT_EQ(progress_line("packing", 11, 10, 80), "packing  [" + std::string(40, '#') + "]  100 %");
  EXPECT_LE(progress_line("packing", 5, 10, 40).size(), 40u);
}

}  // namespace
}  // namespace zevent::report
