#include "launch/program.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace zevent::launch {
namespace {

TEST(program, exit_status_is_the_programs_own) {
  const auto end = run_program({"sh", "-c", "exit 7"}, {});
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->exit_status, 7);
  EXPECT_EQ(end->signal, 0);
}

TEST(program, signal_that_ended_it_is_told_apart_from_an_exit) {
  const auto end = run_program({"sh", "-c", "kill -9 $$"}, {});
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->signal, SIGKILL);
  EXPECT_EQ(end->exit_status, 128 + SIGKILL);
}

TEST(program, environment_changes_reach_it) {
  const auto end = run_program({"sh", "-c", "test \"$GREETING\" = hello"}, {{"GREETING", "hello"}});
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->exit_status, 0);
}

TEST(program, missing_program_is_a_failure_that_names_it) {
  const auto end = run_program({"no-such-program-anywhere"}, {});
  ASSERT_FALSE(end);
  EXPECT_NE(end.error().message.find("no-such-program-anywhere"), std::string::npos);
}

TEST(program, termination_signal_is_passed_on) {
  const auto end = run_program(
      {"sh", "-c", "trap 'exit 3' TERM; kill -TERM $PPID; sleep 5 >/dev/null 2>&1 & wait"}, {});
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->exit_status, 3);
}

TEST(program_death, ends_with_the_same_signal) {
  EXPECT_EXIT(end_like({128 + SIGTERM, SIGTERM, false}), ::testing::KilledBySignal(SIGTERM), "");
  EXPECT_EXIT(end_like({5, 0, false}), ::testing::ExitedWithCode(5), "");
}

}  // namespace
}  // namespace zevent::launch
