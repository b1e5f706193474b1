#include "report/progress_bar.hpp"

#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zevent::report {
namespace {

void work() {
  progress_bar bar("packing", std::chrono::milliseconds(0));
  bar.update(1, 2);
}

// What the work writes to its standard error, which `from` is the other end of.
std::string written(int from, pid_t process) {
  std::string text;
  char buffer[256];
  for (ssize_t bytes = 0; (bytes = read(from, buffer, sizeof(buffer))) > 0;)
    text.append(buffer, static_cast<size_t>(bytes));
  close(from);
  waitpid(process, nullptr, 0);
  return text;
}

TEST(progress_bar, is_drawn_on_a_terminal_and_leaves_no_trace) {
  winsize size{};
  size.ws_col = 60;
  int terminal = -1;
  const pid_t process = forkpty(&terminal, nullptr, nullptr, &size);
  if (process == 0) {
    work();
    std::fflush(stderr);
    _exit(0);
  }
  const auto text = written(terminal, process);
  EXPECT_NE(text.find("\rpacking  [#"), std::string::npos) << text;
  EXPECT_NE(text.find("50 %"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\r\x1b[K")) << text;
}

TEST(progress_bar, is_not_drawn_in_a_pipe) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t process = fork();
  if (process == 0) {
    dup2(ends[1], STDERR_FILENO);
    work();
    std::fflush(stderr);
    _exit(0);
  }
  close(ends[1]);
  EXPECT_EQ(written(ends[0], process), "");
}

TEST(progress_bar, fits_the_terminal) {
  for (const unsigned columns : {40u, 60u, 79u, 200u})
    EXPECT_LE(progress_line("writing out.db", 3, 7, columns).size(), columns) << columns;
}

}  // namespace
}  // namespace zevent::report
