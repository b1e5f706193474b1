#include "base/signal_name.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace zevent {
namespace {

TEST(signal_name, names_are_read_as_they_are_printed) {
  for (const int number : {SIGSEGV, SIGKILL, SIGINT, SIGUSR2, SIGSYS})
    EXPECT_EQ(parse_signal(signal_name(number)), number) << signal_name(number);
  EXPECT_EQ(signal_name(SIGSEGV), "SIGSEGV");
  EXPECT_EQ(parse_signal("ABRT"), SIGABRT);
  EXPECT_EQ(parse_signal("11"), 11);
}

TEST(signal_name, what_has_no_name_is_told_by_its_number) {
  EXPECT_EQ(signal_name(SIGRTMIN + 3), "signal " + std::to_string(SIGRTMIN + 3));
  EXPECT_EQ(signal_name(-1), "signal -1");
  EXPECT_EQ(signal_name(1'000'000), "signal 1000000");
}

TEST(signal_name, what_is_no_signal_is_refused) {
  for (const char* text : {"", "SIG", "SIGNONE", "segv", "0", "-11", "1000", "11 ", "SIGSEGV "})
    EXPECT_EQ(parse_signal(text), std::nullopt) << text;
}

TEST(signal_name, faults_and_aborts_are_crashes_and_requests_to_end_are_not) {
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS})
    EXPECT_TRUE(is_crash_signal(number)) << signal_name(number);
  for (const int number : {SIGINT, SIGTERM, SIGKILL, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM})
    EXPECT_FALSE(is_crash_signal(number)) << signal_name(number);
}

}  // namespace
}  // namespace zevent
