// `zevent record` as its users meet it.

#include "verb_runner.hpp"

#include <algorithm>
#include <set>

#include "api/recording_format.hpp"

namespace zevent::recorder_test {
namespace {

TEST_F(RecordVerb, WritesOneTraceAndSaysSoInOneLine) {
  const auto end = record({PROGRAM, "calls"});
  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(end.out, "");
  EXPECT_NE(end.error.find(" calls, 1 thread, 1 process, 0 lost, "), std::string::npos)
      << end.error;
  EXPECT_NE(end.error.find(": t.zev\n"), std::string::npos) << end.error;
  EXPECT_EQ(std::count(end.error.begin(), end.error.end(), '\n'), 1) << end.error;
  EXPECT_EQ(calls_by_name()["zeEventQueryStatus"], 1000u);
  EXPECT_FALSE(std::filesystem::exists(trace_path() + recording::parts_suffix));
  struct stat status {};
  ASSERT_EQ(stat(trace_path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(RecordVerb, TheExitStatusIsTheProgramsOwn) {
  EXPECT_EQ(WEXITSTATUS(record({PROGRAM, "seven"}).status), 7);
}

TEST_F(RecordVerb, InputAndOutputAreTheProgramsOwn) {
  const auto end = record({"-o", "t.zev", "-q"}, {PROGRAM, "echo"}, "one\ntwo\n");
  EXPECT_EQ(end.out, "one\ntwo\n");
  EXPECT_EQ(end.error, "");
}

TEST_F(RecordVerb, AProgramThatAbortsIsRecordedUpToThere) {
  const auto end = record({PROGRAM, "calls", "abort"});
  EXPECT_TRUE(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGABRT);
  EXPECT_EQ(calls_by_name()["zeEventQueryStatus"], 1000u);
}

TEST_F(RecordVerb, AProgramThatIsKilledIsRecordedUpToThere) {
  const auto end = record({PROGRAM, "calls", "kill"});
  EXPECT_TRUE(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGKILL);
  EXPECT_EQ(calls_by_name()["zeEventQueryStatus"], 1000u);
}

TEST_F(RecordVerb, AScriptThatStartsTwoProgramsGivesOneTrace) {
  write_script("both", "#!/bin/sh\n" PROGRAM " calls\n" PROGRAM " calls threads & wait\nexit 3\n");
  const auto end = record({"./both"});
  EXPECT_EQ(WEXITSTATUS(end.status), 3);
  EXPECT_NE(end.error.find(" 5 threads, 2 processes, 0 lost, "), std::string::npos) << end.error;
  EXPECT_EQ(calls_by_name()["zeEventQueryStatus"], 2300u);
}

TEST_F(RecordVerb, ProgramsInCAndInCppAreRecordedAlike) {
  for (const char* program : {C_PROGRAM, CPP_PROGRAM}) {
    const auto end = record({program});
    EXPECT_EQ(end.status, 0) << end.error;
    EXPECT_NE(end.error.find(" 1 process, 0 lost, "), std::string::npos) << end.error;
    auto calls = calls_by_name();
    EXPECT_GE(calls["zeEventCreate"] + calls["zeEventCounterBasedCreate"], 1u) << program;
  }
}

TEST_F(RecordVerb, AProgramThatBecomesAnotherIsRecordedBeforeAndAfter) {
  const auto end = record({PROGRAM, "calls", "exec", "calls", "seven"});
  EXPECT_EQ(WEXITSTATUS(end.status), 7);
  EXPECT_NE(end.error.find(" 2 processes, 0 lost, "), std::string::npos) << end.error;
  EXPECT_EQ(calls_by_name()["zeEventQueryStatus"], 2000u);
  EXPECT_EQ(calls_by_name()["zeEventPoolCreate"], 2u);
}

// As a launcher of MPI programs starts them.
TEST_F(RecordVerb, RanksAndHostsAreNoted) {
  write_script("launcher",
               "#!/bin/sh\n"
               "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 " PROGRAM
               " calls &\n"
               "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 " PROGRAM
               " calls &\n"
               "wait\nPMI_RANK=7 " PROGRAM "\n");
  const auto end = record({"./launcher"});
  EXPECT_NE(end.error.find(" 3 processes, 0 lost, "), std::string::npos) << end.error;
  const auto opened = trace::open_trace(trace_path());
  ASSERT_TRUE(opened.has_value());
  std::multiset<std::string> ranks;
  for (const auto& process : opened->trace.run().processes) {
    EXPECT_FALSE(process.host.empty());
    for (const auto& [name, value] : process.facts)
      if (name == "mpi rank") ranks.insert(value);
  }
  EXPECT_EQ(ranks, (std::multiset<std::string>{"0", "1", "7"}));
}

TEST_F(RecordVerb, AForkedChildIsInTheTrace) {
  const auto end = record({PROGRAM, "calls", "fork"});
  EXPECT_NE(end.error.find(" 2 processes, "), std::string::npos) << end.error;
  EXPECT_EQ(calls_by_name()["zeEventQueryStatus"], 1005u);
}

TEST_F(RecordVerb, AProgramThatTheScriptLeavesBehindIsWaitedFor) {
  // It tells the script through the pipe that it records; the script ends while it still does.
  write_script("leave", "#!/bin/sh\nmkfifo told\n(" PROGRAM
                        " tell linger calls >told 2>/dev/null &)\nread word <told\n");
  record({"./leave"});
  EXPECT_EQ(calls_by_name()["zeEventQueryStatus"], 1000u);
}

TEST_F(RecordVerb, SignalsReachTheProgram) {
  for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) {
    started run(command({"-o", "t.zev"}, {PROGRAM, "calls", "wait"}), folder_);
    EXPECT_EQ(run.read_line(), "ready");
    run.send(number);
    EXPECT_EQ(WEXITSTATUS(run.finish().status), 100 + number);
    EXPECT_EQ(calls_by_name()["zeEventQueryStatus"], 1000u);
  }
}

TEST_F(RecordVerb, AnInterruptReachesTheProgramOnce) {
  started run(command({"-o", "t.zev"}, {PROGRAM, "calls", "count"}), folder_);
  EXPECT_EQ(run.read_line(), "ready");
  run.send(SIGINT);
  EXPECT_EQ(WEXITSTATUS(run.finish().status), 1);
  EXPECT_EQ(calls_by_name()["zeEventQueryStatus"], 1000u);
}

TEST_F(RecordVerb, AnInterruptFromTheTerminalReachesTheProgramOnce) {
  const auto end = zevent_on_terminal({"record", "-o", "t.zev", "--", PROGRAM, "calls", "count"},
                                      80, {}, "\x03", "ready");
  EXPECT_EQ(WEXITSTATUS(end.status), 1) << end.out;
  EXPECT_EQ(calls_by_name()["zeEventQueryStatus"], 1000u);
}

TEST_F(RecordVerb, TheEndOfTheTerminalReachesTheProgram) {
  int terminal = -1;
  const pid_t leader = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (leader == 0) {
    if (chdir(folder_.c_str()) != 0) _exit(98);
    execl(ZEVENT, ZEVENT, "record", "-o", "t.zev", "--", PROGRAM, "calls", "wait", nullptr);
    _exit(99);
  }
  std::string told;
  char c = 0;
  while (told.find("ready") == told.npos && read(terminal, &c, 1) == 1) told += c;
  close(terminal);
  int status = 0;
  waitpid(leader, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 100 + SIGHUP);
  EXPECT_EQ(calls_by_name()["zeEventQueryStatus"], 1000u);
}

// Through `zevent record`, which `zevent check` starts.
TEST_F(RecordVerb, AnInterruptOfACheckReachesTheProgramToo) {
  started run({ZEVENT, "check", "--", PROGRAM, "calls", "count"}, folder_);
  EXPECT_EQ(run.read_line(), "ready");
  run.send(SIGINT);
  const auto end = run.finish();
  EXPECT_EQ(end.status, 0) << end.error;
  EXPECT_NE(end.error.find("ended with status 1"), std::string::npos) << end.error;
  EXPECT_NE(end.error.find(" calls"), std::string::npos) << end.error;
}

TEST_F(RecordVerb, AnInterruptOfAProfileReachesTheProgramToo) {
  started run({ZEVENT, "profile", "-o", "t.zev", "--", PROGRAM, "calls", "count"}, folder_);
  EXPECT_EQ(run.read_line(), "ready");
  run.send(SIGINT);
  EXPECT_EQ(WEXITSTATUS(run.finish().status), 1);
  EXPECT_EQ(calls_by_name()["zeEventQueryStatus"], 1000u);
}

TEST_F(RecordVerb, ARecordingIsReadableWhileItIsMade) {
  started run(command({"-o", "t.zev"}, {PROGRAM, "calls", "wait"}), folder_);
  EXPECT_EQ(run.read_line(), "ready");
  EXPECT_EQ(calls_by_name()["zeEventQueryStatus"], 1000u);
  run.send(SIGTERM);
  run.finish();
}

TEST_F(RecordVerb, AProgramWithoutLevelZeroLeavesNothing) {
  const auto end = record({"/bin/sh", "-c", "exit 5"});
  EXPECT_EQ(WEXITSTATUS(end.status), 5);
  EXPECT_NE(end.error.find("no call was recorded"), std::string::npos) << end.error;
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(RecordVerb, AProgramThatIsNotThereIsSaidToBeMissing) {
  const auto end = record({"/nowhere/program"});
  EXPECT_EQ(WEXITSTATUS(end.status), 127);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(RecordVerb, WhereNothingCanBeWrittenTheProgramRunsAllTheSameIfAskedTo) {
  const auto end = record({"-o", "/proc/t.zev", "--or-run"}, {PROGRAM, "calls", "seven"});
  EXPECT_EQ(WEXITSTATUS(end.status), 7);
  EXPECT_EQ(std::count(end.error.begin(), end.error.end(), '\n'), 1) << end.error;
}

TEST_F(RecordVerb, WhereNobodyHearsWhatIsSaidTheStatusIsTheProgramsOwn) {
  for (const std::string streams : {"2>&-", "<&- >&- 2>&-", "2>/dev/full", "2>&1 | true"}) {
    write_script("unheard", "#!/bin/bash\nset -o pipefail\n" ZEVENT " record -o t.zev -- " PROGRAM
                            " calls linger seven " +
                                streams + "\n");
    const auto end = started({folder_ + "/unheard"}, folder_).finish();
    EXPECT_EQ(WEXITSTATUS(end.status), 7) << streams << ": " << end.error;
    EXPECT_EQ(calls_by_name()["zeEventQueryStatus"], 1000u) << streams;
    std::filesystem::remove(trace_path());
  }
}

TEST_F(RecordVerb, ClosedStreamsAreTheProgramsOwnToo) {
  write_script("closed", "#!/bin/sh\n" ZEVENT
                         " record -o t.zev -- sh -c 'for i in 0 1 2; do test -e "
                         "/proc/self/fd/$i || n=$((n + 1)); done; exit $n' <&- >&- 2>&-\n");
  EXPECT_EQ(WEXITSTATUS(started({folder_ + "/closed"}, folder_).finish().status), 3);
}

TEST_F(RecordVerb, ARecordingThatSomebodyRemovedIsSaidToBeGone) {
  const auto end = record({"/bin/sh", "-c", PROGRAM " calls; rm -r t.zev.parts; exit 3"});
  EXPECT_EQ(WEXITSTATUS(end.status), 3);
  EXPECT_NE(end.error.find("the recording is gone"), std::string::npos) << end.error;
  EXPECT_EQ(end.error.find("the recording is in"), std::string::npos) << end.error;
}

TEST_F(RecordVerb, ATraceIsNotWrittenToAPipe) {
  const auto end = record({"-o", "-"}, {PROGRAM, "tell"});
  EXPECT_EQ(WEXITSTATUS(end.status), 2);
  EXPECT_EQ(end.out, "");
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(RecordVerb, AtTheSizeThatIsAllowedRecordingStopsAndTheProgramGoesOn) {
  write_script("often", "#!/bin/sh\nfor i in 1 2 3 4 5 6 7 8 9 10; do " PROGRAM
                        " calls; done\n" PROGRAM " seven\n");
  const auto end = record({"-o", "t.zev", "--max-size", "6M"}, {"./often"});
  EXPECT_EQ(WEXITSTATUS(end.status), 7);
  const auto summary = end.error.substr(end.error.rfind("zevent: "));
  EXPECT_NE(summary.find(" lost (recording stopped: it would become larger than the 6 MB that are "
                         "allowed), "),
            std::string::npos)
      << end.error;
  // Nothing is in the summary of calls that were made by nobody, or is missing from it.
  const auto opened = trace::open_trace(trace_path());
  ASSERT_TRUE(opened.has_value());
  uint64_t lost = 0;
  for (const auto& process : opened->trace.run().processes) lost += process.lost_calls;
  EXPECT_NE(summary.find(" " + std::to_string(lost) + " lost "), std::string::npos) << summary;
  const uint64_t queries = calls_by_name()["zeEventQueryStatus"];
  EXPECT_GE(queries, 1000u);
  EXPECT_GE(queries + lost, 10'000u);
  EXPECT_FALSE(std::filesystem::exists(trace_path() + recording::parts_suffix));
}

TEST_F(RecordVerb, ASizeThatIsNoneIsSaidBeforeTheProgramRuns) {
  for (const char* size : {"much", "", "1M", "-5G"}) {
    const auto end = record({"-o", "t.zev", "--max-size", size}, {PROGRAM, "tell"});
    EXPECT_EQ(WEXITSTATUS(end.status), 2) << size;
    EXPECT_NE(end.error.find("--max-size"), std::string::npos) << end.error;
    EXPECT_EQ(end.out, "");
  }
}

TEST_F(RecordVerb, ATraceWithoutANameIsSaidBeforeTheProgramRuns) {
  const auto end = record({"-o", ""}, {PROGRAM, "tell"});
  EXPECT_EQ(WEXITSTATUS(end.status), 2);
  EXPECT_NE(end.error.find("no name"), std::string::npos) << end.error;
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(RecordVerb, AFileThatIsNoProgramIsNotSaidToBeMissing) {
  std::ofstream(folder_ + "/text") << "hello\n";
  const auto end = record({"./text"});
  EXPECT_EQ(WEXITSTATUS(end.status), 126) << end.error;
  EXPECT_FALSE(std::filesystem::exists(trace_path() + recording::parts_suffix));
}

TEST_F(RecordVerb, AFolderInTheTracesPlaceIsSaidBeforeTheProgramRuns) {
  const auto end = record({"-o", "."}, {PROGRAM, "tell"});
  EXPECT_EQ(WEXITSTATUS(end.status), 2);
  EXPECT_NE(end.error.find("is a folder"), std::string::npos) << end.error;
  EXPECT_EQ(end.out, "");
}

TEST_F(RecordVerb, ARecordingThatWasNeverPackedIsNotMixedIn) {
  std::filesystem::create_directory(trace_path() + recording::parts_suffix);
  const auto end = record({PROGRAM});
  EXPECT_EQ(WEXITSTATUS(end.status), 2);
  EXPECT_NE(end.error.find("not packed"), std::string::npos) << end.error;
}

TEST_F(RecordVerb, BothWaysInRecordTheSameCalls) {
  record({"-o", "t.zev", "--way", "direct"}, {PROGRAM, "calls"});
  auto direct = calls_by_name();
  if (!std::filesystem::exists(STOCK_LOADER)) GTEST_SKIP() << "no Level Zero loader installed";
  const auto end = record({"-o", "t.zev", "--way", "loader"}, {PROGRAM, "calls"});
  EXPECT_EQ(end.status, 0) << end.error;
  auto loader = calls_by_name();
  // The loader asks the driver some questions of its own.
  for (const auto& [name, count] : direct) EXPECT_GE(loader[name], count) << name;
  EXPECT_EQ(loader["zeEventQueryStatus"], direct["zeEventQueryStatus"]);
}

}  // namespace
}  // namespace zevent::recorder_test
