#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "trace/recording_part.hpp"

// From the parts that the processes of a run wrote to one packed trace: calls of all threads merged
// by time and numbered, objects told apart, blobs kept once.
namespace zevent::trace {

struct pack_options {
  int compression_level = 3;
  // Called now and then with calls done and calls in all.
  std::function<void(uint64_t, uint64_t)> progress;
  // Asked now and then; true ends the packing with a failure. Unset: it goes on to its end.
  std::function<bool()> cancelled;
};

struct pack_report {
  uint64_t calls = 0;
  uint64_t unreturned_calls = 0;
  uint64_t timed_commands = 0;  // executions whose device time is known
  uint64_t lost_calls = 0;      // made by the program and not recorded
  std::string stop_reason;      // why recording stopped, where it did; of the first process
  uint64_t threads = 0;
  uint64_t processes = 0;
  uint64_t size_bytes = 0;
  // What could not be read, a line each; empty for a recording that is whole.
  std::vector<std::string> damage;
};

// All parts in the folder, in no particular order. Those that cannot be read are left out and
// named in `damage`; a folder without any that can is a failure.
result<std::vector<recording_part>> open_parts(const std::filesystem::path& folder,
                                               std::vector<std::string>& damage);

// Packs into a descriptor that is at the start of an empty file, and stays the caller's.
result<pack_report> pack_parts(std::span<const recording_part> parts, int descriptor,
                               const pack_options& options = {});

// Packs a whole folder into a file that only its owner can read. The file appears when it is
// complete, or not at all.
result<pack_report> pack_recording(const std::filesystem::path& folder,
                                   const std::filesystem::path& output,
                                   const pack_options& options = {});

// The same at the end of a run: the folder is removed, unless it was damaged or is to be kept. A
// folder in which nothing was recorded is removed too, and a failure.
result<pack_report> pack_finished_run(const std::filesystem::path& folder,
                                      const std::filesystem::path& output, bool keep_parts,
                                      const pack_options& options = {});

}  // namespace zevent::trace
