#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "base/temporary_folder.hpp"
#include "part_reader.hpp"
#include "recorder/process_recording.hpp"
#include "recorder/thread_log.hpp"

// Processes that record without a driver, for tests of what they leave behind.
namespace zevent::recorder {

using recorder_test::part_paths;
using recorder_test::read_part;
using recorder_test::read_part_file;

inline constexpr uint16_t some_function = 7;

// What a hook does, without a driver: a call whose input is one number.
struct call {
  recording::call_record* record = nullptr;
  uint64_t position = 0;
  uint64_t start = 0;
};

inline call begin_call(uint64_t input, uint16_t function = some_function) {
  uint64_t start = ticks();
  const uint32_t bytes = sizeof(recording::call_record) + sizeof(input);
  const bool is_quick = this_thread_log.is_quick(bytes, start);
  std::byte* record = this_thread_log.reserve(bytes, start);
  if (!is_quick) start = ticks();
  if (record == nullptr) {
    count_lost_call();
    return {};
  }
  auto* header = reinterpret_cast<recording::call_record*>(record);
  header->header.detail = function;
  header->header.kind = recording::record_kind::call;
  header->start = start;
  std::memcpy(record + sizeof(recording::call_record), &input, sizeof(input));
  const uint64_t position = this_thread_log.position_of(record);
  this_thread_log.call_begins();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  this_thread_log.publish(record, bytes);
  return {header, position, start};
}

inline void end_call(const call& open, uint32_t result) {
  if (open.record == nullptr) return;
  // A call that took seconds, since others had the processor, would need a record of its end.
  const uint64_t duration = std::min<uint64_t>(ticks() - open.start, UINT32_MAX / 2);
  std::atomic_ref(open.record->returned)
      .store(recording::returned_word(result, duration), std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  this_thread_log.call_ends();
}

inline void make_call(uint64_t input) {
  end_call(begin_call(input), 0);
}

inline uint64_t input_of(const recorder_test::read_call& each) {
  uint64_t value = 0;
  EXPECT_EQ(each.inputs.size(), sizeof(value));
  std::memcpy(&value, each.inputs.data(), sizeof(value));
  return value;
}

// What the recorder says goes there.
inline void say_into(const std::string& path) {
  dup2(open(path.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
}

inline ptrdiff_t lines_of(const std::string& path) {
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  return std::count(text.begin(), text.end(), '\n');
}

// How much of its part this process has in memory.
inline uint64_t mapped_part_bytes() {
  uint64_t bytes = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(recording::part_suffix) == std::string::npos) continue;
    char* end = nullptr;
    const uint64_t from = std::strtoull(line.c_str(), &end, 16);
    bytes += std::strtoull(end + 1, nullptr, 16) - from;
  }
  return bytes;
}

// Runs `work` as the program of a process of its own that records into a folder of its own.
class RecorderLog : public testing::Test {
 protected:
  std::string output() const { return folder_ + "/out.zev"; }
  std::string parts() const { return output() + recording::parts_suffix; }

  // The wait status.
  int run(const std::function<void()>& work) {
    const pid_t child = fork();
    if (child == 0) {
      setenv("ZEVENT_RECORD", output().c_str(), 1);
      work();
      std::_Exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }

  read_part only_part() {
    const auto paths = part_paths(parts());
    EXPECT_EQ(paths.size(), 1u);
    return paths.empty() ? read_part{} : read_part_file(paths.front());
  }

  const temporary_folder made_{"zevent-log"};
  const std::string folder_ = made_.path();
};

}  // namespace zevent::recorder
