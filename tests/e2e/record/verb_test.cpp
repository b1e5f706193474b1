// `zevent record` as its users meet it.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "api/recording_format.hpp"
#include "trace/open_trace.hpp"

namespace zevent::recorder_test {
namespace {

using words = std::vector<std::string>;

struct finished {
  int status = 0;
  std::string out, error;
};

class started {
 public:
  explicit started(words command, const std::string& folder) {
    EXPECT_EQ(pipe2(input_, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(output_, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(error_, O_CLOEXEC), 0);
    std::vector<char*> pointers;
    for (auto& word : command) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    process_ = fork();
    if (process_ == 0) {
      dup2(input_[0], STDIN_FILENO);
      dup2(output_[1], STDOUT_FILENO);
      dup2(error_[1], STDERR_FILENO);
      if (chdir(folder.c_str()) != 0) _exit(98);
      execv(pointers[0], pointers.data());
      _exit(99);
    }
    close(input_[0]);
    close(output_[1]);
    close(error_[1]);
  }

  void send(int signal_number) const { kill(process_, signal_number); }

  std::string read_line() {
    std::string line;
    char c = 0;
    while (read(output_[0], &c, 1) == 1 && c != '\n') line += c;
    return line;
  }

  finished finish(const std::string& input = "") {
    EXPECT_EQ(write(input_[1], input.data(), input.size()), static_cast<ssize_t>(input.size()));
    close(input_[1]);
    finished end;
    drain(output_[0], end.out);
    drain(error_[0], end.error);
    waitpid(process_, &end.status, 0);
    return end;
  }

 private:
  // What these programs write fits into a pipe: one after the other is enough.
  static void drain(int from, std::string& into) {
    char buffer[4096];
    ssize_t bytes = 0;
    while ((bytes = read(from, buffer, sizeof(buffer))) > 0)
      into.append(buffer, static_cast<size_t>(bytes));
    close(from);
  }

  pid_t process_ = -1;
  int input_[2], output_[2], error_[2];
};

class RecordVerb : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = std::filesystem::temp_directory_path() / "zevent-verb-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static words command(const words& options, const words& program) {
    words all{ZEVENT, "record"};
    all.insert(all.end(), options.begin(), options.end());
    all.push_back("--");
    all.insert(all.end(), program.begin(), program.end());
    return all;
  }

  finished record(const words& options, const words& program, const std::string& input = "") {
    return started(command(options, program), folder_).finish(input);
  }
  finished record(const words& program) { return record({"-o", "t.zev"}, program); }

  std::string trace_path() const { return folder_ + "/t.zev"; }

  // Calls by the name of their function.
  std::map<std::string, uint64_t> calls_by_name() {
    std::map<std::string, uint64_t> counts;
    const auto opened = trace::open_trace(trace_path());
    EXPECT_TRUE(opened.has_value()) << (opened ? "" : opened.error().message);
    if (!opened) return counts;
    trace::call_reader reader(opened->trace);
    while (const auto* call = reader.next())
      ++counts[std::string(opened->trace.function(*call).name)];
    return counts;
  }

  void write_script(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name) << text;
    chmod((folder_ + "/" + name).c_str(), 0700);
  }

  std::string folder_;
};

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
  started run(command({"-o", "t.zev"}, {PROGRAM, "calls", "wait"}), folder_);
  EXPECT_EQ(run.read_line(), "ready");
  run.send(SIGTERM);
  EXPECT_EQ(WEXITSTATUS(run.finish().status), 33);
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
  EXPECT_NE(end.error.find("nothing was recorded"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(RecordVerb, AProgramThatIsNotThereIsSaidToBeMissing) {
  const auto end = record({"/nowhere/program"});
  EXPECT_EQ(WEXITSTATUS(end.status), 127);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(RecordVerb, WhereNothingCanBeWrittenTheProgramRunsAllTheSame) {
  const auto end = record({"-o", "/proc/t.zev"}, {PROGRAM, "calls", "seven"});
  EXPECT_EQ(WEXITSTATUS(end.status), 7);
  EXPECT_EQ(std::count(end.error.begin(), end.error.end(), '\n'), 1) << end.error;
}

TEST_F(RecordVerb, ARecordingThatWasNeverPackedIsNotMixedIn) {
  std::filesystem::create_directory(trace_path() + recording::parts_suffix);
  const auto end = record({PROGRAM});
  EXPECT_EQ(WEXITSTATUS(end.status), 1);
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
