#include "trace/call_filter.hpp"

#include <gtest/gtest.h>

namespace zevent::trace {
namespace {

const filter_names& names() {
  static const filter_names all{
      {"zeEventCreate", "zeEventQueryStatus", "zeCommandListAppendBarrier", "zeMemFree",
       "zeEventHostSynchronize"},
      {0, 0, 1},
      [](std::string_view name) -> std::optional<uint32_t> {
        return name == "NOT_READY" ? std::optional<uint32_t>(1) : std::nullopt;
      }};
  return all;
}

call make_call(uint64_t number, uint32_t function, uint64_t duration_ns = 50, uint32_t thread = 0,
               uint32_t result = 0, uint8_t flags = call_returned) {
  return {call_number{number}, number * 1000, duration_ns, function, thread, result, flags};
}

bool matches(std::string_view text, const call& each) {
  const auto filter = call_filter::compile(text, names());
  EXPECT_TRUE(filter) << filter.error().message;
  return filter && filter->matches(each);
}

std::string error_of(std::string_view text) {
  const auto filter = call_filter::compile(text, names());
  EXPECT_FALSE(filter) << text;
  return filter ? "" : filter.error().message;
}

TEST(call_filter, numbers_are_single_ranges_or_open_ranges) {
  for (const uint64_t number : {99u, 100u, 150u, 200u, 201u}) {
    const auto each = make_call(number, 0);
    EXPECT_EQ(matches("150", each), number == 150);
    EXPECT_EQ(matches("100-200", each), number >= 100 && number <= 200);
    EXPECT_EQ(matches("150-", each), number >= 150);
  }
}

TEST(call_filter, functions_are_named_by_pattern_or_by_kind) {
  EXPECT_TRUE(matches("zeEvent*", make_call(0, 1)));
  EXPECT_FALSE(matches("zeEvent*", make_call(0, 2)));
  EXPECT_TRUE(matches("zeMemFree", make_call(0, 3)));
  EXPECT_TRUE(matches("*Append*", make_call(0, 2)));
  EXPECT_TRUE(matches("append", make_call(0, 2)));
  EXPECT_TRUE(matches("create", make_call(0, 0)));
  EXPECT_TRUE(matches("destroy", make_call(0, 3)));
  EXPECT_TRUE(matches("query", make_call(0, 1)));
  EXPECT_TRUE(matches("wait", make_call(0, 4)));
  EXPECT_FALSE(matches("wait", make_call(0, 1)));
}

TEST(call_filter, results_and_flags) {
  const auto not_ready = make_call(0, 1, 50, 0, 1);
  const auto error = make_call(0, 1, 50, 0, 0x78000004);
  const auto hung = make_call(0, 1, 0, 0, 0, 0);
  EXPECT_FALSE(matches("failed", not_ready)) << "NOT_READY is an answer, not an error";
  EXPECT_TRUE(matches("failed", error));
  EXPECT_FALSE(matches("failed", hung));
  EXPECT_TRUE(matches("result NOT_READY", not_ready));
  EXPECT_TRUE(matches("unreturned", hung));
  EXPECT_FALSE(matches(">0ns", hung)) << "how long it would have taken is not known";
  EXPECT_TRUE(matches("injected", make_call(0, 1, 1, 0, 0, call_returned | call_injected)));
}

TEST(call_filter, durations_with_any_unit) {
  const auto each = make_call(0, 0, 1'500'000);
  EXPECT_TRUE(matches(">1ms", each));
  EXPECT_TRUE(matches("> 1ms", each));
  EXPECT_TRUE(matches(">=1.5ms", each));
  EXPECT_FALSE(matches(">1.5ms", each));
  EXPECT_TRUE(matches("<=1500us", each));
  EXPECT_FALSE(matches("<1500us", each));
  EXPECT_TRUE(matches("<1s", each));
  EXPECT_FALSE(matches("<0ns", make_call(0, 0, 0)));
  EXPECT_FALSE(matches("<1000ns", each));
}

TEST(call_filter, threads_and_processes_count_from_one) {
  EXPECT_TRUE(matches("thread 2", make_call(0, 0, 1, 1)));
  EXPECT_FALSE(matches("thread 2", make_call(0, 0, 1, 0)));
  EXPECT_TRUE(matches("process 1", make_call(0, 0, 1, 1)));
  EXPECT_TRUE(matches("process 2", make_call(0, 0, 1, 2)));
}

TEST(call_filter, times_since_the_first_call) {
  EXPECT_TRUE(matches("after 1us", make_call(2, 0)));
  EXPECT_FALSE(matches("after 1us", make_call(1, 0)));
  EXPECT_TRUE(matches("before 2us and after 0s", make_call(1, 0)));
}

TEST(call_filter, and_binds_tighter_than_or_and_not_tightest) {
  const auto create = make_call(5, 0), query = make_call(5, 1);
  EXPECT_TRUE(matches("zeEventCreate or zeEventQueryStatus and 6", create));
  EXPECT_FALSE(matches("(zeEventCreate or zeEventQueryStatus) and 6", create));
  EXPECT_FALSE(matches("not zeEventCreate and 5", create));
  EXPECT_TRUE(matches("not (zeEventCreate and 5)", query));
  EXPECT_TRUE(matches("not not 5", query));
}

TEST(call_filter, everything_passes_without_a_filter) {
  EXPECT_TRUE(call_filter().matches(make_call(1, 1)));
}

TEST(call_filter, errors_point_at_the_place) {
  EXPECT_EQ(error_of("append and zeEventQuerryStatus"),
            "'zeEventQuerryStatus' is neither a condition nor a function; did you mean "
            "'zeEventQueryStatus'?\n"
            "  append and zeEventQuerryStatus\n"
            "             ^");
  EXPECT_EQ(error_of("(append or failed"),
            "this parenthesis is never closed\n  (append or failed\n  ^");
  EXPECT_EQ(error_of(">1xs"), "expected a duration like 100us or 1.5ms after '>'\n  >1xs\n   ^");
  EXPECT_NE(error_of("faild").find("did you mean 'failed'"), std::string::npos);
  EXPECT_EQ(error_of("-5"), "'-5' is neither a condition nor a function\n  -5\n  ^");
  EXPECT_EQ(error_of("zeEventQueryStatus>10us"),
            "expected 'and' or 'or' before '>'\n  zeEventQueryStatus>10us\n                    ^");
  EXPECT_NE(error_of("append failed").find("expected 'and' or 'or'"), std::string::npos);
  EXPECT_NE(error_of("append and").find("ends where a condition"), std::string::npos);
  EXPECT_NE(error_of("thread 9").find("no thread 9"), std::string::npos);
  EXPECT_NE(error_of("result BOGUS").find("no result 'BOGUS'"), std::string::npos);
  EXPECT_NE(error_of("200-100").find("ends before"), std::string::npos);
  EXPECT_NE(error_of("zeFoo*").find("no function matches"), std::string::npos);
  for (const char* bad : {"", ")", "or", "and 5", "5 and or 6", "not", "12x", "5-x", "thread",
                          "after", "result", "()", "99999999999999999999"})
    EXPECT_NE(error_of(bad), "") << bad;
}

TEST(call_filter, caret_stands_right_behind_letters_of_several_bytes) {
  EXPECT_NE(error_of(">1µs and )").find("\n           ^"), std::string::npos);
}

TEST(call_filter, nesting_without_end_is_an_error_and_not_a_crash) {
  EXPECT_NE(error_of(std::string(100'000, '(')).find("too deep"), std::string::npos);
  std::string nots;
  for (int i = 0; i < 100'000; ++i) nots += "not ";
  EXPECT_NE(error_of(nots).find("too deep"), std::string::npos);
}

TEST(call_filter, range_of_numbers_that_can_match) {
  const auto range = [](std::string_view text) {
    const auto found = call_filter::compile(text, names())->numbers();
    return std::pair(found.first, found.last);
  };
  EXPECT_EQ(range("100-200 and append"), std::pair(uint64_t{100}, uint64_t{200}));
  EXPECT_EQ(range("7 or 100-200"), std::pair(uint64_t{7}, uint64_t{200}));
  EXPECT_EQ(range("7 or append"), std::pair(uint64_t{0}, UINT64_MAX));
  EXPECT_EQ(range("not 7"), std::pair(uint64_t{0}, UINT64_MAX));
}

TEST(glob, star_and_question_mark) {
  EXPECT_TRUE(matches_glob("zeEventCreate", "ze*Create"));
  EXPECT_TRUE(matches_glob("zeEventCreate", "*"));
  EXPECT_TRUE(matches_glob("", "*"));
  EXPECT_TRUE(matches_glob("abcbc", "a*bc"));
  EXPECT_TRUE(matches_glob("abc", "a?c"));
  EXPECT_FALSE(matches_glob("ac", "a?c"));
  EXPECT_FALSE(matches_glob("abcd", "abc"));
  EXPECT_FALSE(matches_glob("abc", "abcd"));
  EXPECT_TRUE(matches_glob("a*c", "a*c"));
}

TEST(duration, number_and_unit) {
  EXPECT_EQ(parse_duration_ns("100ns"), 100u);
  EXPECT_EQ(parse_duration_ns("1.5us"), 1500u);
  EXPECT_EQ(parse_duration_ns("2s"), 2'000'000'000u);
  for (const char* bad : {"", "ms", "1", "-1ms", "1e99s", "1 ms", "nanms", "inf s", "0x1s"})
    EXPECT_EQ(parse_duration_ns(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace zevent::trace
