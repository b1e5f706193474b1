#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/recording_format.hpp"
#include "base/result.hpp"
#include "trace/mapped_file.hpp"

// Reads what a recorder wrote, or is still writing. The bytes are drawn in
// api/recording_format.hpp. Nothing in the file is trusted: it may be of a process that was killed
// at any instant, and it may have been made by an enemy.
namespace zevent::trace {

// A part of the file with records of one thread, one after the other.
struct stretch {
  uint64_t order = 0;  // among the stretches of its thread
  uint64_t begin = 0;  // file offsets
  uint64_t end = 0;
};

struct recorded_thread {
  uint32_t number = 0;     // the recorder's
  uint32_t thread_id = 0;  // the kernel's
  std::string name;
  std::vector<stretch> stretches;  // in order
};

struct recorded_blob {
  recording::blob_hash hash;
  std::span<const std::byte> content;
};

class recording_part {
 public:
  static result<recording_part> open(const std::filesystem::path& path);
  static result<recording_part> parse(owned_bytes file, std::string name);

  const std::string& name() const { return name_; }
  // As it was when the part was opened.
  const recording::file_header& header() const { return header_; }
  std::string host() const;
  std::string stop_reason() const;

  std::span<const recorded_thread> threads() const { return threads_; }
  std::span<const recorded_blob> blobs() const { return blobs_; }
  std::span<const recording::calibration_record> calibrations() const { return calibrations_; }
  // Names and values, in the order of the file.
  std::span<const std::pair<std::string, std::string>> facts() const { return facts_; }
  std::span<const std::pair<std::string, uint64_t>> counters() const { return counters_; }
  std::span<const recording::device_time_record> device_times() const { return device_times_; }
  std::span<const recording::device_clock_record> device_clocks() const { return device_clocks_; }
  uint64_t calls() const { return calls_; }
  std::span<const std::string> damage() const { return damage_; }

  // One record; nullopt where there is none, or none that fits before `end`.
  struct record {
    recording::record_header header;
    std::span<const std::byte> bytes;  // the header included
  };
  std::optional<record> record_at(uint64_t offset, uint64_t end) const;

 private:
  recording_part() = default;
  void walk_segments();
  void walk_records(uint64_t begin, uint64_t end);
  void add_record(const record& each);
  recorded_thread& thread_of(const recording::thread_record& begins);

  owned_bytes file_;
  std::string name_;
  recording::file_header header_{};
  std::vector<recorded_thread> threads_;
  std::vector<recorded_blob> blobs_;
  std::vector<recording::calibration_record> calibrations_;
  std::vector<std::pair<std::string, std::string>> facts_;
  std::vector<std::pair<std::string, uint64_t>> counters_;
  std::vector<recording::device_time_record> device_times_;
  std::vector<recording::device_clock_record> device_clocks_;
  uint64_t calls_ = 0;
  std::vector<std::string> damage_;
};

// A call put together from its record, its completion and its memory records.
struct recorded_call {
  uint64_t offset = 0;    // of the call's record in the file
  uint16_t function = 0;  // index into the schema
  bool injected = false;
  bool returned = false;
  uint32_t result = 0;
  uint64_t start_ticks = 0;
  uint64_t end_ticks = 0;  // where it returned
  std::span<const std::byte> inputs;
  std::span<const std::byte> outputs;
  std::vector<recording::memory_record> memory;
};

// The calls of one thread in the order in which they began.
//
// What belongs to a call stands behind it in the same thread, with calls in between that were made
// inside of it. So a call is given out only when nothing of it can follow: its completion was
// seen, or a call that began after it had returned.
class recorded_calls {
 public:
  recorded_calls(const recording_part& part, const recorded_thread& thread);

  std::optional<recorded_call> next();

 private:
  struct pending {
    recorded_call call;
    size_t stretch = 0;      // in which its record is
    bool completed = false;  // its completion was seen
    bool end_known = true;
  };

  bool front_is_settled() const;
  bool read_record();
  void begin_call(const recording_part::record& record, uint64_t offset);
  void complete_call(const recording_part::record& record);
  void add_memory(const recording_part::record& record);
  pending* find(uint64_t call_offset);

  const recording_part* part_;
  const recorded_thread* thread_;
  std::vector<std::pair<uint64_t, size_t>> stretch_at_;  // begin and index, sorted by begin
  size_t stretch_ = 0;
  uint64_t offset_ = 0;
  uint64_t last_start_ = 0;
  uint64_t program_calls_pending_ = 0;  // of those in pending_ that were not injected
  std::deque<pending> pending_;         // in the order of the thread
};

}  // namespace zevent::trace
