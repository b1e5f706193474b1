// `zevent profile` as its users meet it.

#include <fmt/core.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "profiled_child.hpp"

namespace zevent::profile_test {
namespace {

class ProfileVerb : public ProfiledChild {
 protected:
  struct finished {
    int status = 0;
    std::string out;  // stderr included
  };
  static finished zevent(const std::string& arguments) {
    const std::string line = fmt::format("{} {} 2>&1", ZEVENT, arguments);
    FILE* stream = popen(line.c_str(), "r");
    finished end;
    char buffer[4096];
    while (const size_t count = fread(buffer, 1, sizeof(buffer), stream))
      end.out.append(buffer, count);
    end.status = WEXITSTATUS(pclose(stream));
    return end;
  }
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(ProfileVerb, PrintsWhereTheDevicesTimeWent) {
  const auto end = zevent("profile -o " + folder() + "/p.zev -- " PROGRAM);
  EXPECT_EQ(end.status, 0) << end.out;
  for (const char* part : {"device time", "bandwidth", "mean life of a command", "append->submit",
                           "queues", "fill of ", "copy ", "zeCommandListAppend", "GB/s"})
    EXPECT_TRUE(has(end.out, part)) << part << "\n" << end.out;
  const auto summary = zevent("summary --json " + folder() + "/p.zev");
  EXPECT_EQ(summary.status, 0);
  for (const char* part : {"\"device\":{\"commands\":", "\"works\":[", "\"bytes_per_second\":",
                           "\"submit_to_start_ns\":", "\"longest_gap_ns\":", "\"untimed\":0"})
    EXPECT_TRUE(has(summary.out, part)) << part << "\n" << summary.out;
  // The program's calls and no others.
  const auto shown = zevent("show " + folder() + "/p.zev");
  EXPECT_FALSE(has(shown.out, "KERNEL_TIMESTAMP")) << shown.out;
}

TEST_F(ProfileVerb, KeepsNothingUnlessAsked) {
  const auto end = zevent("profile --json -- " PROGRAM);
  EXPECT_EQ(end.status, 0) << end.out;
  EXPECT_TRUE(has(end.out, "\"device\":{")) << end.out;
  EXPECT_FALSE(std::filesystem::exists("trace.zev"));
}

TEST_F(ProfileVerb, EndsAsTheProgramDoes) {
  EXPECT_EQ(zevent("profile -- sh -c 'exit 7'").status, 7);
  EXPECT_EQ(zevent("profile -- /no/such/program").status, 127);
  EXPECT_EQ(zevent("profile --no-such-option -- true").status, 2);
  const auto without_calls = zevent("profile -- true");
  EXPECT_EQ(without_calls.status, 2);
  EXPECT_TRUE(has(without_calls.out, "no call was recorded: ")) << without_calls.out;
}

// As `zevent record` does.
TEST_F(ProfileVerb, RunsTheProgramEvenWhereNothingCanBeWrittenIfAskedTo) {
  for (const char* verb : {"record", "profile"}) {
    const auto end = zevent(
        fmt::format("{} --or-run -o {}/none/p.zev -- sh -c '" PROGRAM "; exit 7'", verb, folder()));
    EXPECT_EQ(end.status, 7) << end.out;
    EXPECT_TRUE(has(end.out, "nothing is recorded: cannot make")) << end.out;
    EXPECT_TRUE(has(end.out, "came back")) << end.out;
  }
}

TEST_F(ProfileVerb, LeavesAnOlderRecordingAlone) {
  std::filesystem::create_directory(folder() + "/p.zev.parts");
  for (const char* verb : {"record", "profile"}) {
    const auto end = zevent(fmt::format("{} -o {}/p.zev -- " PROGRAM, verb, folder()));
    EXPECT_EQ(end.status, 2) << end.out;
    EXPECT_FALSE(has(end.out, "came back")) << end.out;
  }
}

TEST_F(ProfileVerb, KeepsMemoryAsRecordDoes) {
  const auto end = zevent("profile --memory results -o " + folder() + "/p.zev -- " PROGRAM);
  EXPECT_EQ(end.status, 0) << end.out;
  EXPECT_TRUE(has(end.out, "device time")) << end.out;
}

}  // namespace
}  // namespace zevent::profile_test
