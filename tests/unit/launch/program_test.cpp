#include "launch/program.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

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
      {"sh", "-c", "trap 'exit 3' TERM; kill -TERM $PPID; while :; do sleep 0.01; done"}, {});
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->exit_status, 3);
}

TEST(program, every_signal_that_is_sent_here_alone_is_passed_on_once) {
  for (const std::string name : {"INT", "QUIT", "TERM", "HUP", "USR1", "USR2"}) {
    // The last signal comes after all others.
    const auto script = fmt::format(
        "n=0; trap 'n=$((n + 1))' {0}; trap 'exit $n' {1}; kill -{0} $PPID; "
        "while [ $n = 0 ]; do :; done; kill -{1} $PPID; while :; do :; done",
        name, name == "USR2" ? "USR1" : "USR2");
    const auto end = run_program({"sh", "-c", script}, {});
    ASSERT_TRUE(end) << end.error().message;
    EXPECT_EQ(end->exit_status, 1) << name;
  }
}

TEST(program, its_end_is_told_where_children_were_ignored) {
  struct sigaction ignore {
  }, before{};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGCHLD, &ignore, &before);
  const auto end = run_program({"sh", "-c", "exit 7"}, {});
  struct sigaction after {};
  sigaction(SIGCHLD, &before, &after);
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->exit_status, 7);
  EXPECT_EQ(after.sa_handler, SIG_IGN);
}

TEST(program, side_work_is_done_while_it_runs) {
  int told[2], done[2];
  ASSERT_EQ(pipe(told), 0);
  ASSERT_EQ(pipe(done), 0);
  int times = 0;
  const auto act = [&] {
    char word = 0;
    times += static_cast<int>(read(told[0], &word, 1));
    EXPECT_EQ(write(done[1], "y\n", 2), 2);
  };
  signal_relay relay;
  const auto script = fmt::format("echo -n x >&{}; read answer <&{}; exit 5", told[1], done[0]);
  const auto end = run_program({"sh", "-c", script}, {}, relay, {told[0], act});
  for (const int each : {told[0], told[1], done[0], done[1]}) close(each);
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->exit_status, 5);
  EXPECT_EQ(times, 1);
}

// The terminal sends them to all processes in the foreground, and so to the program.
TEST(signal_relay, what_the_terminal_sends_is_not_passed_on) {
  int told[2], done[2];
  ASSERT_EQ(pipe(told), 0);
  ASSERT_EQ(pipe(done), 0);
  const auto act = [&] {
    char word = 0;
    ASSERT_EQ(read(told[0], &word, 1), 1);
    siginfo_t as_the_kernel{};
    as_the_kernel.si_signo = SIGINT;
    as_the_kernel.si_code = SI_KERNEL;
    ASSERT_EQ(syscall(SYS_rt_sigqueueinfo, getpid(), SIGINT, &as_the_kernel), 0);
    ASSERT_EQ(write(done[1], "y\n", 2), 2);
  };
  signal_relay relay;
  // What is sent to this process alone is passed on, and comes later.
  const auto script = fmt::format(
      "trap 'exit 9' INT; trap 'exit 5' USR1; echo -n x >&{}; read answer <&{}; "
      "kill -USR1 $PPID; while :; do :; done",
      told[1], done[0]);
  const auto end = run_program({"sh", "-c", script}, {}, relay, {told[0], act});
  for (const int each : {told[0], told[1], done[0], done[1]}) close(each);
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->exit_status, 5);
}

TEST(signal_relay, a_request_that_comes_before_the_program_reaches_it) {
  signal_relay relay;
  raise(SIGINT);
  const auto end = run_program({"sleep", "60"}, {}, relay);
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->signal, SIGINT);
}

TEST(signal_relay, the_second_request_after_the_program_is_told_from_the_first) {
  signal_relay relay;
  ASSERT_TRUE(run_program({"true"}, {}, relay));
  second_request request("");
  EXPECT_FALSE(request.came());
  raise(SIGINT);
  EXPECT_FALSE(request.came());
  raise(SIGUSR1);
  EXPECT_FALSE(request.came()) << "which asks for something else";
  raise(SIGTERM);
  EXPECT_TRUE(request.came());
}

TEST(program_death, ends_with_the_same_signal) {
  program_end terminated, exited;
  terminated.exit_status = 128 + SIGTERM;
  terminated.signal = SIGTERM;
  exited.exit_status = 5;
  EXPECT_EXIT(end_like(terminated), ::testing::KilledBySignal(SIGTERM), "");
  EXPECT_EXIT(end_like(exited), ::testing::ExitedWithCode(5), "");
}

}  // namespace
}  // namespace zevent::launch
