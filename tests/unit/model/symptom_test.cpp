#include "model/symptom.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace zevent::model {
namespace {

const call_facts slow_query{230, "zeEventQueryStatus", 177'866'000, true, "NOT_READY"};

bool shown_by(const char* text, const call_facts& call) {
  const auto wanted = parse_symptom(text);
  EXPECT_TRUE(wanted) << text << ": " << (wanted ? "" : wanted.error().message);
  return wanted && shows(*wanted, call);
}

TEST(symptom, every_form_survives_being_written_and_read_again) {
  for (const char* text :
       {"zeEventQueryStatus>100us", "230>1ms", "ze*>1500ns", "zeInit>2s",
        "zeMemAllocDevice result=ERROR_OUT_OF_DEVICE_MEMORY", "zeInit result=0x7ffffff0", "hang",
        "crash", "crash=SIGSEGV", "crash=40", "exit=3", "memory", "none", "EV-25", "52 EV-11",
        "zeEvent*Reset EV-11"}) {
    const auto parsed = parse_symptom(text);
    ASSERT_TRUE(parsed) << text << ": " << parsed.error().message;
    EXPECT_EQ(to_text(*parsed), text);
  }
}

TEST(symptom, what_is_not_one_is_an_error_that_says_what_is) {
  for (const char* text : {"",
                           "slow",
                           "zeInit>",
                           "zeInit>5",
                           ">1ms",
                           "zeInit>1 parsec",
                           "exit=-1",
                           "exit=256",
                           "crash=SIGNONE",
                           "ze Init result=X",
                           "zeInit result=",
                           "ze(>1ms",
                           "zeInti>1ms",
                           "zeFoo* result=SUCCESS",
                           "zeInit result=SUCESS",
                           "zeInit result=0xg",
                           "EV-",
                           "EV-x",
                           "EV-1.5",
                           "zeInti EV-11",
                           "5x EV-11",
                           "99999999999999999999999>1ms"}) {
    const auto parsed = parse_symptom(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_FALSE(parsed.error().message.empty()) << text;
  }
}

TEST(symptom, slow_call_is_meant_by_name_or_by_number) {
  EXPECT_TRUE(shown_by("zeEventQueryStatus>100us", slow_query));
  EXPECT_TRUE(shown_by("zeEvent*>177ms", slow_query));
  EXPECT_TRUE(shown_by("230>100us", slow_query));
  EXPECT_FALSE(shown_by("231>100us", slow_query));
  EXPECT_FALSE(shown_by("zeEventQueryStatus>178ms", slow_query));
  EXPECT_FALSE(shown_by("zeEventHostSynchronize>100us", slow_query));
}

TEST(symptom, result_is_meant_with_or_without_its_prefix) {
  EXPECT_TRUE(shown_by("zeEventQueryStatus result=NOT_READY", slow_query));
  EXPECT_TRUE(shown_by("result=ZE_RESULT_NOT_READY", slow_query));
  EXPECT_FALSE(shown_by("result=SUCCESS", slow_query));
}

TEST(symptom, result_is_meant_by_its_number_too) {
  EXPECT_TRUE(shown_by("result=0x1", slow_query));
  EXPECT_FALSE(shown_by("result=0x0", slow_query));
  EXPECT_EQ(to_text(*parse_symptom("zeInit result=0x78000004")),
            "zeInit result=ERROR_INVALID_ARGUMENT");
}

TEST(symptom, a_rule_is_found_anywhere_or_at_a_call) {
  EXPECT_EQ(parse_symptom("EV-25"), symptom(rule_finding{std::nullopt, 25}));
  EXPECT_EQ(parse_symptom(" 52  EV-11"), symptom(rule_finding{call_pattern{52, ""}, 11}));
  EXPECT_FALSE(shown_by("230 EV-70", slow_query));  // that is the checker's to say
}

TEST(symptom, call_that_did_not_return_is_a_hang_and_nothing_else) {
  const call_facts hanging{7, "zeEventHostSynchronize", 0, false, ""};
  EXPECT_TRUE(shown_by("hang", hanging));
  EXPECT_FALSE(shown_by("zeEventHostSynchronize>0ns", hanging));
  EXPECT_FALSE(shown_by("hang", slow_query));
}

TEST(symptom, end_of_the_run_shows_crashes_and_exit_statuses) {
  EXPECT_TRUE(shows_at_end(crash{}, 0, SIGSEGV));
  EXPECT_TRUE(shows_at_end(crash{SIGSEGV}, 0, SIGSEGV));
  EXPECT_FALSE(shows_at_end(crash{SIGSEGV}, 0, SIGABRT));
  EXPECT_FALSE(shows_at_end(crash{}, 139, 0));
  EXPECT_TRUE(shows_at_end(exit_status{3}, 3, 0));
  EXPECT_FALSE(shows_at_end(exit_status{0}, 0, SIGKILL));
}

}  // namespace
}  // namespace zevent::model
