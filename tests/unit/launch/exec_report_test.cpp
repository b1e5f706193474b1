#include "launch/exec_report.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/temporary_folder.hpp"
#include "launch/captured_run.hpp"
#include "launch/program.hpp"

namespace zevent::launch {
namespace {

// What both ways of running a program say about one that cannot be.
void expect_refusal(const std::string& program, const std::string& reason) {
  const std::string message = "cannot run " + program + ": " + reason;
  const auto shown = run_program({program}, {});
  ASSERT_FALSE(shown);
  EXPECT_EQ(shown.error().message, message);
  captured_run_request request;
  request.command = {program};
  const auto captured = run_captured(request, {});
  ASSERT_FALSE(captured);
  EXPECT_EQ(captured.error().message, message);
}

TEST(program_that_cannot_be_run, is_missing) {
  expect_refusal("./no-such-program", "No such file or directory");
}

TEST(program_that_cannot_be_run, is_a_folder) {
  const temporary_folder folder;
  expect_refusal(folder.path().string(), "it is a folder");
}

TEST(program_that_cannot_be_run, names_an_interpreter_that_is_missing) {
  const temporary_folder folder;
  const std::string script = (folder.path() / "script").string();
  std::ofstream(script) << "#!/nonexistent/interpreter\n";
  chmod(script.c_str(), 0700);
  expect_refusal(script, "the interpreter that it names does not exist");
}

TEST(program_that_cannot_be_run, is_not_one_that_ends_as_shells_do_then) {
  captured_run_request request;
  request.command = {"sh", "-c", "exit 127"};
  const auto end = run_captured(request, {});
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->exit_status, 127);
}

}  // namespace
}  // namespace zevent::launch
