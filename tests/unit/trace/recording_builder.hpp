#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "api/recording_format.hpp"
#include "base/checked_cast.hpp"
#include "trace/mapped_file.hpp"

namespace zevent::trace {

// Makes the bytes of a part as a recorder would leave them.
class recording_builder {
 public:
  static constexpr uint64_t unit_bytes = 4096;

  recording_builder() : bytes_(sizeof(recording::file_header)) {
    auto& begin = header();
    begin.magic = recording::file_magic;
    begin.version = recording::first_format_version;
    begin.header_bytes = sizeof(recording::file_header);
    begin.segment_unit_bytes = unit_bytes;
    begin.process_id = 100;
    begin.ticks_per_second = 1'000'000'000;
    begin.clock = recording::clock_kind::monotonic_raw_clock;
    begin.state = recording::part_state::closed;
    std::strcpy(begin.host, "here");
  }

  recording::file_header& header() {
    return *reinterpret_cast<recording::file_header*>(bytes_.data());
  }

  void segment(uint64_t units = 1) {
    pad_to(segment_end_);
    place_minus_position_ = 0;
    const recording::first_segment_header begin{recording::first_segment_magic, units * unit_bytes};
    segment_end_ = bytes_.size() + begin.bytes;
    put(&begin, sizeof begin);
  }

  // A segment that is used again; its records are told by their positions.
  void reused_segment(uint64_t position) {
    header().version = recording::format_version;
    pad_to(segment_end_);
    const recording::segment_header begin{recording::segment_magic, unit_bytes, position};
    segment_end_ = bytes_.size() + begin.bytes;
    place_minus_position_ = bytes_.size() - position;
    put(&begin, sizeof begin);
  }

  void packed_area(uint64_t units = 1) {
    header().version = recording::format_version;
    pad_to(segment_end_);
    const recording::segment_header begin{recording::packed_area_magic, units * unit_bytes, 0};
    segment_end_ = bytes_.size() + begin.bytes;
    put(&begin, sizeof begin);
  }

  // Puts what is in another file's only segment into the area as it is, and calls of `words` behind
  // it; `becomes` is the template that the last of its records is.
  void block(uint64_t position, std::span<const std::byte> segment, uint64_t becomes,
             std::span<const uint64_t> words) {
    const uint64_t begin = bytes_.size();
    recording::block_header head{position, 0};
    put(&head, sizeof head);
    auto rest = segment.subspan(sizeof(recording::segment_header));
    for (recording::record_header record; rest.size() >= sizeof record;) {
      std::memcpy(&record, rest.data(), sizeof record);
      if (record.size == 0) break;
      const auto whole = rest.first(recording::align_record(record.size));
      rest = rest.subspan(whole.size());
      uint32_t next = 0;
      if (rest.size() >= sizeof next) std::memcpy(&next, rest.data(), sizeof next);
      const uint64_t word = recording::whole_record(next == 0 ? becomes : 0);
      put(&word, sizeof word);
      put(whole.data(), whole.size());
    }
    put(words.data(), words.size_bytes());
    head.packed_bytes = bytes_.size() - begin - sizeof head;
    std::memcpy(bytes_.data() + begin, &head, sizeof head);
    const uint64_t trailer = recording::block_trailer(position);
    put(&trailer, sizeof trailer);
  }

  void thread(uint32_t number, uint64_t stretch, std::string_view name = "main") {
    recording::thread_record raw{{}, number, 1000 + number, stretch, {}};
    name.copy(raw.name, sizeof raw.name - 1);
    record(raw, recording::record_kind::thread);
  }

  // Gives the place of the record, for its completion.
  uint64_t call(uint16_t function, uint64_t start, uint64_t returned, std::string_view inputs = {},
                uint8_t flags = 0) {
    recording::call_record raw{{}, start, returned};
    return record(raw, recording::record_kind::call, function, inputs, flags);
  }

  void completion(uint64_t call, uint64_t end, std::string_view outputs = {}) {
    record(recording::completion_record{{}, call, end}, recording::record_kind::completion, 0,
           outputs);
  }

  void calibration(uint64_t ticks, uint64_t monotonic_ns, uint64_t realtime_ns) {
    record(recording::calibration_record{{}, ticks, monotonic_ns, realtime_ns, 0},
           recording::record_kind::calibration);
  }

  void fact(std::string_view name, std::string_view value) {
    record(recording::fact_record{}, recording::record_kind::fact,
           checked_cast<uint16_t>(name.size()), std::string(name).append(value));
  }

  void counter(std::string_view name, uint64_t value) {
    record(recording::counter_record{{}, value}, recording::record_kind::counter, 0, name);
  }

  void blob(const recording::blob_hash& hash, std::string_view content) {
    record(recording::blob_record{{}, hash}, recording::record_kind::blob, 0, content);
  }

  void memory(uint64_t call, uint64_t address, uint64_t bytes, const recording::blob_hash& content,
              uint8_t flags = recording::memory_is_copy_source) {
    record(recording::memory_record{{}, call, address, bytes, content},
           recording::record_kind::memory, 0, {}, flags);
  }

  // What the thread of the call did; the place of the call and the kind are filled in.
  void usage(uint64_t call, recording::usage_record raw) {
    raw.call = call;
    const uint8_t flags = raw.header.flags;
    record(raw, recording::record_kind::usage, 0, {}, flags);
  }

  // A device whose clock has one timestamp a tick.
  void device_clock(uint64_t ticks, uint64_t timestamp) {
    record(recording::device_clock_record{{}, ticks, 1, timestamp, 1'000'000'000, 64, 64},
           recording::record_kind::device_clock, 0, "a device");
  }

  struct device_run {
    uint64_t start, end;            // device timestamps
    uint64_t submitted, collected;  // ticks
  };
  void device_time(uint64_t call, uint64_t execution, const device_run& run) {
    record(
        recording::device_time_record{
            {}, call, execution, run.start, run.end, run.submitted, run.collected},
        recording::record_kind::device_time);
  }

  template <typename Record>
  uint64_t record(Record raw, recording::record_kind kind, uint16_t detail = 0,
                  std::string_view behind = {}, uint8_t flags = 0) {
    const uint64_t place = bytes_.size() - place_minus_position_;
    raw.header = {checked_cast<uint32_t>(sizeof raw + behind.size()), detail, kind, flags};
    put(&raw, sizeof raw);
    put(behind.data(), behind.size());
    pad_to(recording::align_record(bytes_.size()));
    return place;
  }

  // The file so far; its last segment full of zeros to its end.
  std::vector<std::byte> bytes() {
    auto whole = bytes_;
    whole.resize(std::max<size_t>(whole.size(), segment_end_));
    return whole;
  }

 private:
  void put(const void* data, size_t size) {
    const auto* begin = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), begin, begin + size);
  }
  void pad_to(uint64_t size) { bytes_.resize(std::max<size_t>(bytes_.size(), size)); }

  std::vector<std::byte> bytes_;
  uint64_t segment_end_ = 0;
  uint64_t place_minus_position_ = 0;
};

}  // namespace zevent::trace
