#include "base/byte_size.hpp"

#include <gtest/gtest.h>

namespace zevent {
namespace {

TEST(byte_size, is_read_as_people_write_it) {
  const std::pair<const char*, uint64_t> sizes[] = {
      {"0", 0},
      {"4096", 4096},
      {"12B", 12},
      {"12 bytes", 12},
      {"500k", 500'000},
      {"500M", 500'000'000},
      {"500 MB", 500'000'000},
      {"2G", 2'000'000'000},
      {"1.5G", 1'500'000'000},
      {"1t", 1'000'000'000'000},
      {"64KiB", 65536},
      {"64MiB", 67'108'864},
      {"1gib", 1'073'741'824},
  };
  for (const auto& [text, bytes] : sizes) {
    const auto parsed = parse_byte_size(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(*parsed, bytes) << text;
  }
}

TEST(byte_size, what_is_none_is_refused_with_an_example) {
  for (const char* text : {"", "M", "-1M", "5X", "5MM", "5 M B", "1e3", "inf", "nan", "0x10",
                           "99999999999G", "5Mi", "all", "5,5G"}) {
    const auto parsed = parse_byte_size(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_NE(parsed.error().message.find("500M"), std::string::npos) << text;
  }
}

TEST(byte_size, is_printed_with_a_unit_of_its_own_order) {
  EXPECT_EQ(byte_size_text(9999), "9999 bytes");
  EXPECT_EQ(byte_size_text(52'900), "52.9 kB");
  EXPECT_EQ(byte_size_text(500'000'000), "500 MB");
  EXPECT_EQ(byte_size_text(20'000'000'000), "20 GB");
}

}  // namespace
}  // namespace zevent
