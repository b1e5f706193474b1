#include "recorded_child.hpp"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "api/model.hpp"

namespace zevent::recorder_test {

pid_t RecordedChild::start(const std::function<void()>& program) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("ZEVENT_RECORD", output().c_str(), 1);
    program();
    std::_Exit(0);
  }
  return child;
}

int RecordedChild::wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::vector<read_part> RecordedChild::parts() const {
  std::vector<read_part> all;
  for (const auto& path : part_paths(output() + recording::parts_suffix))
    all.push_back(read_part_file(path));
  return all;
}

read_part RecordedChild::only_part() const {
  auto all = parts();
  EXPECT_EQ(all.size(), 1u);
  if (all.empty()) return {};
  EXPECT_EQ(all.front().faults, std::vector<std::string>());
  return std::move(all.front());
}

uint16_t function_index(const char* name) {
  const auto& model = api::builtin_model();
  const auto* function = model.find_function(name);
  EXPECT_NE(function, nullptr) << name;
  return function != nullptr ? model.index_of(*function) : 0;
}

std::string function_name(uint16_t index) {
  const auto functions = api::builtin_model().functions;
  return index < functions.size() ? std::string(functions[index].name) : "?";
}

}  // namespace zevent::recorder_test
