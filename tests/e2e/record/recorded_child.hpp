#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/temporary_folder.hpp"
#include "part_reader.hpp"

namespace zevent::recorder_test {

// A test whose programs are forked children: this process is linked with the recorder, never calls
// it itself, and so stays a process with one thread and nothing loaded.
class RecordedChild : public testing::Test {
 protected:
  // Starts `program` in a child that records; its number.
  pid_t start(const std::function<void()>& program);
  // The wait status.
  int wait_for(pid_t child);
  int run(const std::function<void()>& program) { return wait_for(start(program)); }

  std::string folder() const { return folder_; }
  std::string output() const { return folder_ + "/out.zev"; }
  std::vector<read_part> parts() const;
  // Of a run with one process: its part, which keeps every promise of the format.
  read_part only_part() const;

 private:
  const temporary_folder made_{"zevent-record"};
  const std::string folder_ = made_.path();
};

// Index of a function in the model, by name.
uint16_t function_index(const char* name);
std::string function_name(uint16_t index);

// The input of a call at an offset, as a number of that type.
template <typename T>
T input_at(const read_call& call, size_t offset) {
  T value{};
  EXPECT_LE(offset + sizeof(T), call.inputs.size());
  if (offset + sizeof(T) <= call.inputs.size())
    std::memcpy(&value, call.inputs.data() + offset, sizeof(T));
  return value;
}

}  // namespace zevent::recorder_test
