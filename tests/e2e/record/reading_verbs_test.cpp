// The verbs that read a trace, as their users meet them: in a pipe, on a terminal, with nothing to
// say, and with arguments that make no sense.

#include <sys/stat.h>

#include <algorithm>

#include "base/environment.hpp"
#include "verb_runner.hpp"

namespace zevent::recorder_test {
namespace {

class ReadingVerb : public RecordVerb {
 protected:
  void SetUp() override {
    RecordVerb::SetUp();
    record({"-q", "-o", "t.zev"}, {PROGRAM, "calls"});
  }

  static size_t widest_line(const std::string& text) {
    size_t widest = 0, columns = 0;
    for (const char c : text) {
      if (c == '\n' || c == '\r') columns = 0;
      // The first byte of a character.
      else if ((static_cast<unsigned char>(c) & 0xc0) != 0x80)
        widest = std::max(widest, ++columns);
    }
    return widest;
  }
};

TEST_F(ReadingVerb, ShowInAPipeIsPlainAndWhole) {
  const auto end = zevent({"show", "t.zev"});
  EXPECT_EQ(end.status, 0) << end.error;
  EXPECT_EQ(end.error, "");
  EXPECT_EQ(end.out.find('\x1b'), std::string::npos);
  EXPECT_GT(std::count(end.out.begin(), end.out.end(), '\n'), 1000);
}

TEST_F(ReadingVerb, ShowOnATerminalIsColouredAndPaged) {
  const auto end =
      zevent_on_terminal({"show", "t.zev", "0-3"}, 100, {{"PAGER", "sed s/^/paged:/"}});
  EXPECT_EQ(end.status, 0);
  EXPECT_NE(end.out.find("paged:"), std::string::npos) << end.out;
  EXPECT_NE(end.out.find("\x1b["), std::string::npos) << end.out;
}

TEST_F(ReadingVerb, NoColorIsHeeded) {
  const auto end =
      zevent_on_terminal({"show", "--no-pager", "t.zev", "0-3"}, 100, {{"NO_COLOR", "1"}});
  EXPECT_EQ(end.status, 0);
  EXPECT_NE(end.out.find("zeInit"), std::string::npos) << end.out;
  EXPECT_EQ(end.out.find('\x1b'), std::string::npos) << end.out;
}

TEST_F(ReadingVerb, ThePagerMayBeLeftEarly) {
  const auto end = zevent_on_terminal({"show", "t.zev"}, 100, {{"PAGER", "head -1"}});
  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(std::count(end.out.begin(), end.out.end(), '\n'), 1) << end.out;
}

TEST_F(ReadingVerb, APagerThatIsNotThereIsSaid) {
  const auto end = zevent_on_terminal({"show", "t.zev", "0-3"}, 100, {{"PAGER", "no-such-pager"}});
  EXPECT_NE(end.out.find("no-such-pager"), std::string::npos) << end.out;
}

TEST_F(ReadingVerb, AReaderThatHasSeenEnoughIsNoFailureToTalkAbout) {
  for (const std::string verb : {"show", "show --json", "export --jsonl -"}) {
    const auto end =
        started({"/bin/sh", "-c", ZEVENT " " + verb + " t.zev | head -1"}, folder_).finish();
    EXPECT_EQ(end.status, 0);
    EXPECT_EQ(std::count(end.out.begin(), end.out.end(), '\n'), 1) << end.out;
    EXPECT_EQ(end.error, "") << verb;
  }
  // Where the signal is ignored the write fails instead.
  const auto end =
      started({"/bin/sh", "-c", "trap '' PIPE; " ZEVENT " show t.zev | head -1"}, folder_).finish();
  EXPECT_EQ(end.error, "");
}

TEST_F(ReadingVerb, AReaderThatHasSeenEnoughLeavesNothingBehind) {
  std::filesystem::create_directory(folder_ + "/tmp");
  for (const std::string verb : {"check --severity note -o -", "profile --report -"}) {
    // The program's output is not what is read.
    const auto end = started({"/bin/sh", "-c",
                              "export TMPDIR=$PWD/tmp; { " ZEVENT " " + verb +
                                  " -- " PROGRAM " calls; echo $? >status; } | true"},
                             folder_)
                         .finish();
    EXPECT_EQ(end.error.find("cannot write"), std::string::npos) << end.error;
    EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/tmp")) << verb;
  }
}

TEST_F(ReadingVerb, SummaryFitsANarrowTerminal) {
  const auto end = zevent_on_terminal({"summary", "t.zev"}, 60, {{"NO_COLOR", "1"}});
  EXPECT_EQ(end.status, 0);
  EXPECT_NE(end.out.find("zeEventQueryStatus"), std::string::npos) << end.out;
  EXPECT_LE(widest_line(end.out), 60u) << end.out;
}

TEST_F(ReadingVerb, AWidthThatTheUserAsksForIsHeededOnATerminal) {
  const auto end =
      zevent_on_terminal({"summary", "t.zev"}, 200, {{"NO_COLOR", "1"}, {"COLUMNS", "60"}});
  EXPECT_EQ(end.status, 0);
  EXPECT_LE(widest_line(end.out), 60u) << end.out;
}

TEST_F(ReadingVerb, ADatabaseIsNotWrittenToAPipe) {
  const auto end = zevent({"export", "--sqlite", "-", "t.zev"});
  EXPECT_EQ(WEXITSTATUS(end.status), 2);
  EXPECT_NE(end.error.find("give a file"), std::string::npos) << end.error;
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/-"));
}

TEST_F(ReadingVerb, NamesThatBeginAlikeAreToldApartOnANarrowTerminal) {
  record({"-q", "-o", "c.zev"}, {C_PROGRAM});
  const auto end = zevent_on_terminal({"summary", "c.zev", "append"}, 60, {{"NO_COLOR", "1"}});
  EXPECT_NE(end.out.find("MemoryFill "), std::string::npos) << end.out;
  EXPECT_NE(end.out.find("MemoryCopy "), std::string::npos) << end.out;
  EXPECT_LE(widest_line(end.out), 60u) << end.out;
}

TEST_F(ReadingVerb, HelpFitsANarrowTerminal) {
  EXPECT_LE(widest_line(zevent_on_terminal({"--help"}, 60).out), 60u);
  for (const char* verb : {"run", "record", "profile", "show", "summary", "check", "replay",
                           "repro", "export", "doctor"}) {
    const auto end = zevent_on_terminal({verb, "--help"}, 60);
    EXPECT_EQ(end.status, 0);
    EXPECT_NE(end.out.find("usage: zevent "), std::string::npos) << end.out;
    EXPECT_LE(widest_line(end.out), 60u) << end.out;
    EXPECT_LE(widest_line(zevent({verb, "--help"}).out), 80u) << "in a pipe: " << verb;
  }
}

TEST_F(ReadingVerb, HelpSaysWhatAnOptionTakesAndWhatItIsWithout) {
  const auto help = zevent({"record", "--help"}).out;
  EXPECT_NE(help.find("  -o, --output FILE "), std::string::npos) << help;
  EXPECT_NE(help.find("  --memory off|copies|full|results\n"), std::string::npos) << help;
  EXPECT_NE(help.find("(default: full)"), std::string::npos) << help;
  const auto run = zevent({"run", "--help"}).out;
  EXPECT_NE(run.find("--fault NAME[:N] "), std::string::npos) << run;
  EXPECT_NE(run.find("this seed; not with --chaos\n"), std::string::npos) << run;
}

TEST_F(ReadingVerb, DoctorListsEveryVariableWhetherOrNotItIsSet) {
  const auto end = zevent({"doctor", "--variables"});
  EXPECT_EQ(end.status, 0);
  for (const auto& each : environment_variables())
    EXPECT_NE(end.out.find(std::string(each.name) + "="), std::string::npos) << each.name;
}

TEST_F(ReadingVerb, NoBarIsDrawnInAPipe) {
  for (const words& line : {words{"show", "--deps", "t.zev"}, words{"summary", "t.zev"},
                            words{"export", "--sqlite", "t.db", "t.zev"}}) {
    const auto end = zevent(line);
    EXPECT_EQ(end.status, 0);
    EXPECT_EQ(end.error, "");
  }
}

TEST_F(ReadingVerb, NothingToShowIsNoFailure) {
  EXPECT_EQ(zevent({"show", "t.zev", "zeFence*"}).out, "");
  EXPECT_EQ(zevent({"show", "t.zev", "zeFence*"}).status, 0);
  EXPECT_EQ(zevent({"show", "--json", "t.zev", "zeFence*"}).out, "");
  const auto summary = zevent({"summary", "t.zev", "zeFence*"});
  EXPECT_EQ(summary.status, 0) << summary.error;
  EXPECT_NE(summary.out.find("0 calls"), std::string::npos) << summary.out;
  EXPECT_EQ(zevent({"export", "--jsonl", "-", "t.zev", "zeFence*"}).out, "");
}

TEST_F(ReadingVerb, ARecordingWithoutCallsIsATraceLikeAnyOther) {
  // As of a program that was killed when it had just begun its first call.
  record({"-q", "--keep-parts", "-o", "k.zev"}, {PROGRAM});
  std::filesystem::remove(folder_ + "/k.zev");
  for (const auto& part : std::filesystem::directory_iterator(folder_ + "/k.zev.parts"))
    std::filesystem::resize_file(part.path(), 4096);
  EXPECT_EQ(zevent({"show", "k.zev"}).status, 0);
  EXPECT_EQ(zevent({"show", "k.zev"}).out, "");
  EXPECT_NE(zevent({"summary", "k.zev"}).out.find("0 calls"), std::string::npos);
  EXPECT_EQ(zevent({"summary", "--json", "k.zev"}).status, 0);
  EXPECT_EQ(zevent({"export", "--sqlite", "k.db", "k.zev"}).status, 0);
}

TEST_F(ReadingVerb, WithoutArgumentsTheyAskForATrace) {
  for (const char* verb : {"show", "summary", "export"}) {
    const auto end = zevent({verb});
    EXPECT_EQ(WEXITSTATUS(end.status), 2) << verb;
    EXPECT_EQ(std::count(end.error.begin(), end.error.end(), '\n'), 1) << end.error;
    EXPECT_NE(end.error.find("--help"), std::string::npos) << end.error;
  }
  EXPECT_EQ(WEXITSTATUS(zevent({}).status), 2);
  EXPECT_EQ(WEXITSTATUS(zevent({"record"}).status), 2);
}

TEST_F(ReadingVerb, WrongArgumentsAreNamed) {
  const std::pair<words, std::string> wrong[] = {
      {{"show", "--nonsense", "t.zev"}, "--nonsense"},
      {{"show", "--nonsense"}, "--nonsense"},
      {{"replay", "--nonsense"}, "--nonsense"},
      {{"repro", "--nonsense"}, "--nonsense"},
      {{"doctor", "--nonsense"}, "--nonsense"},
      {{"show", "t.zev", "nonsense ("}, "nonsense"},
      {{"summary", "--slowest", "many", "t.zev"}, "many"},
      {{"export", "t.zev"}, "--sqlite"},
      {{"show", "--handles", "some", "t.zev"}, "some not in {names,values,both}"},
      {{"record", "--memory", "some", "--", PROGRAM}, "some"},
      {{"record", "--nonsense", "--", PROGRAM}, "--nonsense"},
      {{"sohw", "t.zev"}, "sohw"},
  };
  for (const auto& [line, named] : wrong) {
    const auto end = zevent(line);
    EXPECT_EQ(WEXITSTATUS(end.status), 2) << end.error;
    EXPECT_NE(end.error.find(named), std::string::npos) << end.error;
    EXPECT_EQ(end.out, "");
  }
}

TEST_F(ReadingVerb, AFileThatIsNoTraceIsSaidToBeNone) {
  for (const char* verb : {"show", "summary"}) {
    for (const char* file : {"/etc/passwd", "nowhere.zev", "/dev/null", "/"}) {
      const auto end = zevent({verb, file});
      EXPECT_EQ(WEXITSTATUS(end.status), 2) << file;
      EXPECT_EQ(std::count(end.error.begin(), end.error.end(), '\n'), 1) << end.error;
    }
  }
}

TEST_F(ReadingVerb, WhatIsNoTraceIsSaidToBeWhatItIs) {
  std::ofstream(folder_ + "/empty.zev").flush();
  std::filesystem::create_directory(folder_ + "/folder");
  EXPECT_NE(zevent({"show", "empty.zev"}).error.find("it is empty"), std::string::npos);
  EXPECT_NE(zevent({"show", "folder"}).error.find("folder is a folder"), std::string::npos);
}

TEST_F(ReadingVerb, AProgramInATracesPlaceIsSaidToBeOne) {
  for (const char* verb : {"show", "summary", "repro"}) {
    const auto end = zevent({verb, PROGRAM});
    EXPECT_NE(end.error.find("is a program, not a trace; 'zevent record -- "), std::string::npos)
        << end.error;
  }
  EXPECT_NE(zevent({"check", PROGRAM}).error.find("'zevent check -- "), std::string::npos);
}

TEST_F(ReadingVerb, ATraceInAProgramsPlaceIsSaidToBeOne) {
  for (const char* verb : {"run", "record", "profile", "check"}) {
    const auto end = zevent({verb, "--", "t.zev"});
    EXPECT_EQ(WEXITSTATUS(end.status), 2) << verb;
    EXPECT_NE(end.error.find("t.zev is a trace, not a program"), std::string::npos) << end.error;
    EXPECT_NE(zevent({verb, "--", ""}).error.find("no program is given"), std::string::npos)
        << verb;
  }
}

// Root may replace any device: a slip of the hand would cost the machine its /dev/null.
TEST_F(ReadingVerb, OnlyFilesAreReplacedByFiles) {
  ASSERT_EQ(mkfifo((folder_ + "/pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/null", folder_ + "/link");
  for (const char* place : {"pipe", "link"}) {
    for (const words& line : {words{"record", "-o", place, "--", PROGRAM, "calls"},
                              words{"profile", "-o", place, "--", PROGRAM, "calls"},
                              words{"export", "--sqlite", place, "t.zev"}}) {
      const auto end = zevent(line);
      EXPECT_EQ(WEXITSTATUS(end.status), 2) << end.error;
      EXPECT_NE(end.error.find("would be replaced"), std::string::npos) << end.error;
      EXPECT_EQ(end.out, "");
    }
  }
  EXPECT_TRUE(std::filesystem::is_fifo(folder_ + "/pipe"));
  // Lines can be written to whatever takes them.
  EXPECT_EQ(zevent({"export", "--jsonl", "link", "t.zev"}).status, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ + "/link"));
}

TEST_F(ReadingVerb, AnExportDoesNotOverwriteTheTrace) {
  const auto calls = zevent({"show", "t.zev"}).out;
  for (const char* form : {"--sqlite", "--jsonl"}) {
    const auto end = zevent({"export", form, "./t.zev", "t.zev"});
    EXPECT_EQ(WEXITSTATUS(end.status), 2);
    EXPECT_NE(end.error.find("is the trace itself"), std::string::npos) << end.error;
  }
  EXPECT_EQ(zevent({"show", "t.zev"}).out, calls);
}

TEST_F(ReadingVerb, ATraceThatWasCutIsReadUpToThere) {
  const auto whole = zevent({"show", "t.zev"}).out;
  std::filesystem::resize_file(trace_path(), std::filesystem::file_size(trace_path()) - 40);
  const auto end = zevent({"show", "t.zev"});
  EXPECT_EQ(end.out, whole);
  EXPECT_NE(end.error.find("note: "), std::string::npos) << end.error;
}

TEST_F(ReadingVerb, AnExportThatCannotBeWrittenIsSaid) {
  for (const char* form : {"--sqlite", "--jsonl"}) {
    const auto end = zevent({"export", form, "/nowhere/file", "t.zev"});
    EXPECT_EQ(WEXITSTATUS(end.status), 2);
    EXPECT_NE(end.error.find("/nowhere/file"), std::string::npos) << end.error;
  }
}

}  // namespace
}  // namespace zevent::recorder_test
