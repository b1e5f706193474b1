#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "report/show.hpp"
#include "report/summary_output.hpp"
#include "trace/open_trace.hpp"

namespace zevent::report {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> golden_traces() {
  std::vector<fs::path> found;
  for (const auto& each : fs::directory_iterator(GOLDEN_FOLDER))
    if (each.path().extension() == ".zev") found.push_back(each.path());
  std::sort(found.begin(), found.end());
  return found;
}

// Everything that verbs say about a trace.
std::string text_of(const trace::opened_trace& opened) {
  const int descriptor = memfd_create("text", MFD_CLOEXEC);
  {
    text_output out(descriptor);
    for (const auto& warning : opened.warnings) out.line(fmt::format("note: {}", warning));
    show(opened.trace, {}, {.waits = true, .injected = true, .handles = handle_style::both}, out);
    show(opened.trace, {}, {.json = true, .waits = true, .injected = true}, out);
    const auto summary = summarise(opened.trace, {}, {});
    write_summary_text(opened.trace, summary, {.title = "golden"}, out);
    write_summary_json(opened.trace, summary, out);
  }
  std::string text(static_cast<size_t>(lseek(descriptor, 0, SEEK_END)), '\0');
  EXPECT_EQ(pread(descriptor, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  close(descriptor);
  return text;
}

TEST(golden_trace, there_is_one_of_every_version) {
  std::vector<std::string> names;
  for (const auto& path : golden_traces()) names.push_back(path.filename());
  for (uint32_t version = 1; version <= trace::file_version; ++version)
    for (const char* which : {"story", "profile"})
      EXPECT_EQ(std::count(names.begin(), names.end(), fmt::format("{}_v{}.zev", which, version)),
                1);
}

// ZEVENT_WRITE_GOLDEN=1 writes the texts anew, for when the wording of verbs changes.
TEST(golden_trace, old_traces_read_as_they_always_did) {
  for (const auto& path : golden_traces()) {
    const auto opened = trace::open_trace(path);
    ASSERT_TRUE(opened) << path << ": " << opened.error().message;
    const auto text = text_of(*opened);
    const auto expected_path = fs::path(path).replace_extension(".txt");
    if (std::getenv("ZEVENT_WRITE_GOLDEN") != nullptr) std::ofstream(expected_path) << text;
    std::ifstream file(expected_path);
    std::stringstream expected;
    expected << file.rdbuf();
    EXPECT_EQ(text, expected.str()) << path;
  }
}

}  // namespace
}  // namespace zevent::report
