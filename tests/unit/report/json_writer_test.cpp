#include "report/json_writer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

namespace zevent::report {
namespace {

TEST(json_writer, commas_come_where_they_belong) {
  std::string text;
  json_writer out(text);
  out.begin_object();
  out.member("a", uint64_t{1});
  out.member("b", std::string_view("x"));
  out.key("c");
  out.begin_array();
  out.null();
  out.boolean(true);
  out.begin_object();
  out.end_object();
  out.number(-1.5);
  out.end_array();
  out.member("d", UINT64_MAX);
  out.end_object();
  EXPECT_EQ(text, R"({"a":1,"b":"x","c":[null,true,{},-1.5],"d":18446744073709551615})");
}

TEST(json_writer, any_bytes_make_a_string_that_parses) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(random() % 30, '\0');
    for (auto& byte : bytes)
      byte = static_cast<char>(random() % 2 == 0 ? random() % 128 : 0xc0 + random() % 64);
    std::string text;
    json_writer(text).string(bytes);
    EXPECT_TRUE(nlohmann::json::accept(text)) << text;
  }
}

TEST(json_writer, utf8_stays_as_it_is) {
  std::string text;
  json_writer(text).string("→ µs \"\\\n");
  EXPECT_EQ(text, "\"→ µs \\\"\\\\\\u000a\"");
}

TEST(json_writer, what_is_no_number_becomes_a_string) {
  std::string text;
  json_writer(text).number(std::nan(""));
  EXPECT_EQ(text, "\"nan\"");
}

}  // namespace
}  // namespace zevent::report
