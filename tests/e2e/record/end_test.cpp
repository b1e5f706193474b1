// How a recorded program ended, and what the verbs make of it.

#include "verb_runner.hpp"

#include <csignal>

#include "api/recording_format.hpp"
#include "support/kernel_version.hpp"

namespace zevent::recorder_test {
namespace {

using trace::end_kind;
using trace::process_end;

class RecordedEnd : public RecordVerb {
 protected:
  std::vector<process_end> ends() {
    const auto opened = trace::open_trace(trace_path());
    EXPECT_TRUE(opened.has_value()) << (opened ? "" : opened.error().message);
    std::vector<process_end> all;
    if (opened)
      for (const auto& each : opened->trace.run().processes) all.push_back(each.end);
    for (auto& each : all) each.at_ns.reset();
    return all;
  }

  // What `zevent check --symptom` says: its exit status.
  int shows(const std::string& symptom) {
    return WEXITSTATUS(zevent({"check", "--symptom", symptom, "t.zev"}).status);
  }
};

TEST_F(RecordedEnd, ACrashInAWaitIsACrashAndNoHang) {
  const auto run = record({PROGRAM, "calls", "stuck-crash"});
  EXPECT_TRUE(WIFSIGNALED(run.status) && WTERMSIG(run.status) == SIGSEGV);
  EXPECT_EQ(ends(), (std::vector{process_end{end_kind::by_signal, SIGSEGV, {}}}));
  EXPECT_EQ(shows("crash=SIGSEGV"), 1);
  EXPECT_EQ(shows("crash"), 1);
  EXPECT_EQ(shows("crash=SIGABRT"), 0);
  EXPECT_EQ(shows("hang"), 0);
  EXPECT_EQ(shows("exit=139"), 0);
  const auto repro = zevent({"repro", "-o", "repro", "t.zev"});
  EXPECT_NE(repro.out.find("symptom crash=SIGSEGV: the program was ended by SIGSEGV in call "),
            std::string::npos)
      << repro.out << repro.error;
  std::ifstream readme(folder_ + "/repro/README.md");
  const std::string text((std::istreambuf_iterator<char>(readme)), {});
  EXPECT_NE(text.find("Symptom: `crash=SIGSEGV`"), std::string::npos) << text;
  EXPECT_NE(text.find("| how it ended | `ended by SIGSEGV` |"), std::string::npos) << text;
  const auto shown = zevent({"show", "t.zev"}).out;
  EXPECT_NE(shown.find("(did not return)\n"), std::string::npos) << shown;
  EXPECT_TRUE(shown.ends_with("  ended by SIGSEGV\n")) << shown;
  EXPECT_NE(zevent({"summary", "t.zev"}).out.find(", ended by SIGSEGV: "), std::string::npos);
  EXPECT_NE(zevent({"check", "t.zev"}).out.find(" was ended by SIGSEGV"), std::string::npos);
}

TEST_F(RecordedEnd, AWaitThatSomebodyEndedIsAHang) {
  for (const int number : {SIGTERM, SIGINT}) {
    started run(command({"-o", "t.zev"}, {PROGRAM, "stuck"}), folder_);
    EXPECT_EQ(run.read_line(), "stuck");
    run.send(number);
    const auto end = run.finish();
    EXPECT_TRUE(WIFSIGNALED(end.status) && WTERMSIG(end.status) == number);
    EXPECT_EQ(ends(), (std::vector{process_end{end_kind::by_signal, uint32_t(number), {}}}));
    EXPECT_EQ(shows("hang"), 1);
    EXPECT_EQ(shows("crash"), 0);
  }
}

TEST_F(RecordedEnd, AProgramThatLeavesAThreadInAWaitDoesNotHang) {
  EXPECT_EQ(WEXITSTATUS(record({PROGRAM, "stuck-leave"}).status), 3);
  EXPECT_EQ(ends(), (std::vector{process_end{end_kind::exited, 3, {}}}));
  EXPECT_EQ(shows("hang"), 0);
  EXPECT_EQ(shows("crash"), 0);
  EXPECT_EQ(shows("exit=3"), 1);
  EXPECT_EQ(shows("exit=4"), 0);
}

TEST_F(RecordedEnd, AProgramThatBecomesAnotherEndsAsThatDoes) {
  EXPECT_EQ(WEXITSTATUS(record({PROGRAM, "calls", "exec", "calls", "seven"}).status), 7);
  EXPECT_EQ(ends(), (std::vector{process_end{end_kind::replaced, 0, {}},
                                 process_end{end_kind::exited, 7, {}}}));
}

TEST_F(RecordedEnd, ProgramsOfAScriptEndEachInItsWay) {
  if (!kernel_tells_ends_of_others()) GTEST_SKIP() << "the kernel does not tell";
  write_script("three", "#!/bin/sh\n" PROGRAM " watched stuck-crash\n" PROGRAM
                        " watched seven\n" PROGRAM " calls fork\nexit 0\n");
  EXPECT_EQ(record({"./three"}).status, 0);
  const auto all = ends();
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0], (process_end{end_kind::by_signal, SIGSEGV, {}}));
  EXPECT_EQ(all[1], (process_end{end_kind::exited, 7, {}}));
  EXPECT_EQ(shows("crash=SIGSEGV"), 1);
  EXPECT_EQ(shows("hang"), 0);
}

TEST_F(RecordedEnd, PartsThatAreKeptTellItToo) {
  record({"-o", "t.zev", "--keep-parts"}, {PROGRAM, "stuck-crash"});
  std::filesystem::remove(trace_path());
  EXPECT_EQ(ends(), (std::vector{process_end{end_kind::by_signal, SIGSEGV, {}}}));
}

TEST_F(RecordedEnd, WhereNobodySawItItIsNotKnown) {
  started run(command({"-o", "t.zev"}, {PROGRAM, "stuck"}), folder_);
  EXPECT_EQ(run.read_line(), "stuck");
  const auto opened = trace::open_trace(trace_path());
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  const auto program = static_cast<pid_t>(opened->trace.run().processes.front().process_id);
  run.send(SIGKILL);
  kill(program, SIGSEGV);
  run.finish();
  EXPECT_EQ(ends(), std::vector{process_end{}});
  EXPECT_EQ(shows("hang"), 1) << "as far as anybody can tell";
  EXPECT_EQ(shows("exit=0"), 2);
}

}  // namespace
}  // namespace zevent::recorder_test
