#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/recording_format.hpp"

namespace zevent::recorder_test {

// A plain reader of what the recorder writes, made only of the description in
// api/recording_format.hpp: the oracle of the recorder's tests.
struct read_call {
  uint64_t position = 0;
  uint32_t thread = 0;
  uint16_t function = 0;
  uint8_t flags = 0;
  uint64_t start = 0;
  std::optional<uint64_t> end;  // nothing: not returned
  uint32_t result = 0;
  std::vector<std::byte> inputs;
  std::optional<std::vector<std::byte>> outputs;
};

struct read_memory {
  uint64_t call = 0;
  uint64_t address = 0;
  uint8_t flags = 0;
  std::vector<std::byte> content;
};

struct read_part {
  recording::file_header header{};
  std::map<uint32_t, std::vector<read_call>> calls;  // by thread, in the order of the program
  std::map<uint32_t, recording::thread_record> threads;
  std::map<std::string, std::string> facts;
  std::map<std::string, uint64_t> counters;
  std::vector<recording::calibration_record> calibrations;
  std::map<std::string, std::vector<std::byte>> blobs;  // by hash, as 16 bytes
  std::vector<read_memory> memory;
  std::vector<recording::usage_record> usage;
  // What breaks a promise of the format; empty for every file the recorder leaves behind.
  std::vector<std::string> faults;

  size_t call_count() const;
};

read_part read_part_file(const std::string& path);

// The parts of a folder, sorted by name.
std::vector<std::string> part_paths(const std::string& folder);

}  // namespace zevent::recorder_test
