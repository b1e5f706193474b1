#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/temporary_folder.hpp"
#include "trace/open_trace.hpp"

namespace zevent::recorder_test {

using words = std::vector<std::string>;

struct finished {
  int status = 0;
  std::string out, error;
};

// A program in a folder, with pipes for its input and output.
class started {
 public:
  started(words command, const std::string& folder) {
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

// What a program writes to a terminal of so many columns, with those variables set for it. Keys are
// typed once it has written the prompt.
inline finished on_terminal(words command, const std::string& folder, unsigned columns,
                            const std::vector<std::pair<std::string, std::string>>& variables = {},
                            const std::string& keys = "", const std::string& prompt = "") {
  std::vector<char*> pointers;
  for (auto& word : command) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  winsize size{};
  size.ws_row = 24;
  size.ws_col = static_cast<unsigned short>(columns);
  int terminal = -1;
  const pid_t process = forkpty(&terminal, nullptr, nullptr, &size);
  if (process == 0) {
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    unsetenv("COLUMNS");
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    if (chdir(folder.c_str()) != 0) _exit(98);
    execv(pointers[0], pointers.data());
    _exit(99);
  }
  finished end;
  char buffer[4096];
  bool typed = keys.empty();
  // A terminal that nobody writes to any more reads as an error.
  for (ssize_t bytes = 0; (bytes = read(terminal, buffer, sizeof(buffer))) > 0;) {
    end.out.append(buffer, static_cast<size_t>(bytes));
    if (!typed && end.out.find(prompt) != end.out.npos)
      typed = write(terminal, keys.data(), keys.size()) > 0;
  }
  waitpid(process, &end.status, 0);
  close(terminal);
  return end;
}

class RecordVerb : public testing::Test {
 protected:
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

  // Any verb, with its arguments.
  finished zevent(words arguments) const {
    arguments.insert(arguments.begin(), ZEVENT);
    return started(std::move(arguments), folder_).finish();
  }
  finished zevent_on_terminal(
      words arguments, unsigned columns,
      const std::vector<std::pair<std::string, std::string>>& variables = {},
      const std::string& keys = "", const std::string& prompt = "") const {
    arguments.insert(arguments.begin(), ZEVENT);
    return on_terminal(std::move(arguments), folder_, columns, variables, keys, prompt);
  }

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

  const temporary_folder made_{"zevent-verb"};
  const std::string folder_ = made_.path();
};

}  // namespace zevent::recorder_test
