#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/recording_format.hpp"
#include "base/result.hpp"
#include "trace/mapped_file.hpp"

// Reads what a recorder wrote, or is still writing. The bytes are drawn in
// api/recording_format.hpp. Nothing in the file is trusted: it may be of a process that was killed
// at any instant, and it may have been made by an enemy.
namespace zevent::trace {

// One record, wherever it was found.
struct recorded_entry {
  recording::record_header header;
  uint64_t position = 0;
  std::span<const std::byte> bytes;  // the header included; of a packed call the times are others:
  uint64_t start = 0;                // of a call
  uint64_t returned = 0;             // of a call
};

// Records one after the other: of a segment, or of a packed block.
struct record_row {
  std::span<const std::byte> bytes;
  uint64_t position = 0;  // of the first record
  bool packed = false;
};

// Goes through a row, or through the rest of it from the end of a thread record on.
class record_cursor {
 public:
  explicit record_cursor(const record_row& row);

  // Nothing at the end, and where what follows is no record.
  std::optional<recorded_entry> next();

  // Whether nothing follows, where next() gave nothing.
  bool at_end() const;

  // What is left: the cursor of that goes on where this one is, if the last was a thread record.
  record_row rest() const { return {row_.bytes.subspan(offset_), position_, row_.packed}; }

 private:
  std::optional<recorded_entry> next_packed();

  record_row row_;
  uint64_t offset_ = 0;
  uint64_t position_ = 0;
  uint64_t last_start_ = 0;
  std::vector<uint64_t> templates_;  // where in the row the record of each is; 0 for none
};

// Records of one thread, one after the other: up to the next thread record.
struct stretch {
  uint64_t order = 0;  // among the stretches of its thread
  record_row records;
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

// Segments that the recorder may use again at any moment, as they were at one moment; by their
// place in the file.
struct segment_copy {
  uint64_t position = 0;
  std::shared_ptr<const std::vector<std::byte>> bytes;
};
using segment_copies = std::map<uint64_t, segment_copy>;

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

 private:
  recording_part() = default;
  static result<recording_part> parse(owned_bytes file, std::string name, segment_copies copies);
  void walk_segments();
  void walk_records(const record_row& row, uint64_t place);
  void add_record(const recorded_entry& each);
  recorded_thread& thread_of(const recording::thread_record& begins);

  owned_bytes file_;
  segment_copies copies_;
  std::string name_;
  recording::file_header header_{};
  std::vector<recorded_thread> threads_;
  std::unordered_map<uint32_t, size_t> thread_places_;  // by their numbers
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
  uint64_t position = 0;  // of the call's record
  uint16_t function = 0;  // index into the schema
  bool injected = false;
  bool returned = false;
  uint32_t result = 0;
  uint64_t start_ticks = 0;
  uint64_t end_ticks = 0;  // where it returned
  std::span<const std::byte> inputs;
  std::span<const std::byte> outputs;
  std::vector<recording::memory_record> memory;
  std::span<const std::byte> usage;  // a usage_record; empty where there is none
};

// The calls of one thread in the order in which they began.
//
// What belongs to a call stands behind it in the same thread, with calls in between that were made
// inside of it. So a call is given out only when nothing of it can follow: its completion was
// seen, or a call that began after it had returned.
class recorded_calls {
 public:
  explicit recorded_calls(const recorded_thread& thread);

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
  void begin_call(const recorded_entry& record);
  void complete_call(const recorded_entry& record);
  void add_memory(const recorded_entry& record);
  void add_usage(const recorded_entry& record);
  pending* find(uint64_t call_position);

  const recorded_thread* thread_;
  std::vector<std::pair<uint64_t, size_t>> stretch_at_;  // position and index, sorted by position
  size_t stretch_ = 0;
  std::optional<record_cursor> cursor_;  // in that stretch
  uint64_t last_start_ = 0;
  uint64_t program_calls_pending_ = 0;  // of those in pending_ that were not injected
  std::deque<pending> pending_;         // in the order of the thread
};

}  // namespace zevent::trace
