#include "part_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace zevent::recorder_test {
namespace {

using namespace recording;

std::string key_of(const blob_hash& hash) {
  return {reinterpret_cast<const char*>(hash.bytes), sizeof(hash.bytes)};
}

class part_parser {
 public:
  explicit part_parser(const std::string& path) {
    std::error_code error;
    bytes_.resize(std::filesystem::file_size(path, error));
    std::ifstream file(path, std::ios::binary);
    file.read(bytes_.data(), static_cast<std::streamsize>(bytes_.size()));
  }

  read_part parse() {
    if (!read(0, part_.header) || part_.header.magic != file_magic) {
      fault("no header");
      return std::move(part_);
    }
    const uint64_t unit = part_.header.segment_unit_bytes;
    const auto file = std::move(bytes_);
    std::map<uint64_t, image> segments;  // by position
    std::vector<image> blocks, others;
    for (uint64_t at = part_.header.header_bytes; at + sizeof(segment_header) <= file.size();) {
      segment_header segment{};
      std::memcpy(&segment, file.data() + at, sizeof(segment));
      if (segment.magic != segment_magic && segment.magic != packed_area_magic) {
        at += unit;
        continue;
      }
      if (segment.bytes == 0 || segment.bytes % unit != 0) fault("size of segment at {}", at);
      const uint64_t end = std::min<uint64_t>(at + segment.bytes, file.size());
      image whole{segment.position, {file.begin() + long(at), file.begin() + long(end)}};
      if (segment.magic == packed_area_magic)
        unpack_area(whole.bytes, blocks);
      else if (segment.position == 0)
        others.push_back(std::move(whole));
      else if (!segments.emplace(segment.position, std::move(whole)).second)
        fault("two segments at position {}", segment.position);
      at += segment.bytes;
    }
    // Who died between packing a segment and using it again left both.
    for (auto& block : blocks) {
      auto& segment = segments[block.position];
      if (!segment.bytes.empty() && !is_same(segment.bytes, block.bytes))
        fault("the segment at position {} and its block differ", block.position);
      segment = std::move(block);
    }
    for (auto& [position, each] : segments) parse_image(std::move(each));
    for (auto& each : others) parse_image(std::move(each));
    join_stretches();
    join_memory();
    return std::move(part_);
  }

 private:
  struct stretch {
    std::vector<read_call> calls;
    std::vector<completion_record> completions;
    std::vector<std::vector<std::byte>> outputs;
  };

  // A segment as it was when it was full.
  struct image {
    uint64_t position = 0;
    std::vector<char> bytes;
  };

  // Behind its header, and up to where the other ends: there zeros follow.
  static bool is_same(const std::vector<char>& segment, const std::vector<char>& image) {
    if (image.size() > segment.size()) return false;
    const auto from = long(sizeof(segment_header));
    if (!std::equal(image.begin() + from, image.end(), segment.begin() + from)) return false;
    return std::all_of(segment.begin() + long(image.size()), segment.end(),
                       [](char c) { return c == 0; });
  }

  void unpack_area(const std::vector<char>& area, std::vector<image>& out) {
    for (uint64_t at = sizeof(segment_header); at + sizeof(block_header) <= area.size();) {
      block_header header{};
      std::memcpy(&header, area.data() + at, sizeof(header));
      if (header.position == 0) return;
      at += sizeof(header);
      uint64_t trailer = 0;
      if (header.packed_bytes > area.size() - at - sizeof(trailer))
        return fault("block of {} bytes leaves its area", header.packed_bytes);
      std::memcpy(&trailer, area.data() + at + header.packed_bytes, sizeof(trailer));
      if (trailer != block_trailer(header.position)) return;  // killed while it was written
      out.push_back({header.position, unpack({area.data() + at, header.packed_bytes})});
      at += header.packed_bytes + sizeof(trailer);
    }
  }

  std::vector<char> unpack(std::string_view packed) {
    std::vector<char> segment(sizeof(segment_header));
    std::map<uint64_t, std::string> templates;
    uint64_t start = 0;
    for (size_t at = 0; at < packed.size();) {
      uint64_t word = 0;
      std::memcpy(&word, packed.data() + at, sizeof(word));
      at += sizeof(word);
      std::string record;
      call_record call{};
      if (const uint64_t number = word & 1023; number != 0) {
        record = templates[number];
        if (record.size() < sizeof(call)) fault("template {} is none", number);
        record.resize(std::max(record.size(), sizeof(call)));
        std::memcpy(&call, record.data(), sizeof(call));
        call.start = start = start + (word >> 10 & 0x7ffffff);
        call.returned = call.returned >> 32 << 32 | word >> 37;
        std::memcpy(record.data(), &call, sizeof(call));
      } else {
        record_header header{};
        std::memcpy(&header, packed.data() + at, sizeof(header));
        record = packed.substr(at, align_record(header.size));
        at += record.size();
        if (header.kind == record_kind::thread) templates.clear(), start = 0;
        if (header.kind == record_kind::call) {
          std::memcpy(&call, record.data(), sizeof(call));
          start = call.start;
          if (word != 0) templates[word >> 10] = record;
        }
      }
      segment.insert(segment.end(), record.begin(), record.end());
    }
    return segment;
  }

  void parse_image(image&& segment) {
    bytes_ = std::move(segment.bytes);
    position_ = segment.position;
    parse_segment(sizeof(segment_header), bytes_.size());
  }

  template <typename T>
  bool read(uint64_t at, T& value) const {
    if (at + sizeof(T) > bytes_.size()) return false;
    std::memcpy(&value, bytes_.data() + at, sizeof(T));
    return true;
  }

  template <typename... Args>
  void fault(fmt::format_string<Args...> format, Args&&... args) {
    part_.faults.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  std::vector<std::byte> slice(uint64_t from, uint64_t to) const {
    const auto* begin = reinterpret_cast<const std::byte*>(bytes_.data());
    return {begin + from, begin + to};
  }

  void parse_segment(uint64_t at, uint64_t end) {
    stretch* present = nullptr;
    uint32_t thread = 0;
    while (at + sizeof(record_header) <= end) {
      record_header header{};
      if (!read(at, header) || header.size == 0) break;
      if (at + header.size > end || header.size < sizeof(header)) {
        fault("record at {} of {} bytes leaves its segment", at, header.size);
        return;
      }
      if (header.kind == record_kind::thread) {
        thread_record owner{};
        read(at, owner);
        thread = owner.thread;
        present = &stretches_[{owner.thread, owner.stretch}];
        if (owner.thread != 0) part_.threads[owner.thread] = owner;
      } else if (present == nullptr) {
        fault("record at {} before any thread", at);
      } else {
        parse_record(at, header, thread, *present);
      }
      at = align_record(at + header.size);
    }
  }

  void parse_record(uint64_t at, const record_header& header, uint32_t thread, stretch& out) {
    const uint64_t end = at + header.size;
    switch (header.kind) {
      case record_kind::call: {
        call_record call{};
        read(at, call);
        read_call copy{
            position_ + at, thread, header.detail, header.flags, call.start, {}, 0, {}, {}};
        if (call.returned != 0) {
          copy.end = call.start + static_cast<uint32_t>(call.returned) - 1;
          copy.result = static_cast<uint32_t>(call.returned >> 32);
          if (static_cast<uint32_t>(call.returned) == duration_is_long) copy.end = 0;
        }
        copy.inputs = slice(at + sizeof(call), end);
        out.calls.push_back(std::move(copy));
        break;
      }
      case record_kind::completion: {
        completion_record completion{};
        read(at, completion);
        out.completions.push_back(completion);
        out.outputs.push_back(slice(at + sizeof(completion), end));
        break;
      }
      case record_kind::blob: {
        blob_record blob{};
        read(at, blob);
        part_.blobs[key_of(blob.hash)] = slice(at + sizeof(blob), end);
        break;
      }
      case record_kind::memory: {
        memory_record memory{};
        read(at, memory);
        memories_.push_back(memory);
        break;
      }
      case record_kind::usage: {
        const auto& usage = (read(at, part_.usage.emplace_back()), part_.usage.back());
        if (usage.until < usage.from) fault("usage at {} ends before it begins", at);
        break;
      }
      case record_kind::calibration:
        read(at, part_.calibrations.emplace_back());
        break;
      case record_kind::fact:
        part_.facts[text(at + sizeof(fact_record), header.detail)] =
            text(at + sizeof(fact_record) + header.detail,
                 header.size - sizeof(fact_record) - header.detail);
        break;
      case record_kind::counter: {
        counter_record counter{};
        read(at, counter);
        part_.counters[text(at + sizeof(counter), header.size - sizeof(counter))] = counter.value;
        break;
      }
      default:
        fault("record at {} of unknown kind {}", at, static_cast<int>(header.kind));
    }
  }

  std::string text(uint64_t at, uint64_t size) const { return {bytes_.data() + at, size}; }

  void join_stretches() {
    std::map<uint64_t, read_call*> by_position;
    for (auto& [key, each] : stretches_) {
      auto& calls = part_.calls[key.first];
      for (auto& call : each.calls) calls.push_back(std::move(call));
    }
    part_.calls.erase(0);
    for (auto& [thread, calls] : part_.calls)
      for (auto& call : calls) by_position[call.position] = &call;
    for (auto& [key, each] : stretches_)
      for (size_t i = 0; i < each.completions.size(); ++i) {
        const auto& completion = each.completions[i];
        const auto found = by_position.find(completion.call);
        if (found == by_position.end() || found->second->thread != key.first) {
          fault("completion without a call");
          continue;
        }
        read_call& call = *found->second;
        if (!call.end) continue;
        call.end = completion.end;
        if (call.outputs) fault("call at {} has two completions", call.position);
        call.outputs = std::move(each.outputs[i]);
      }
    for (const auto& [thread, calls] : part_.calls)
      for (const auto& call : calls)
        if (call.end && *call.end == 0) fault("call at {} lacks its end", call.position);
  }

  void join_memory() {
    for (const auto& memory : memories_) {
      const auto found = part_.blobs.find(key_of(memory.content));
      if (found == part_.blobs.end() || found->second.size() != memory.bytes) {
        fault("memory at {:#x} without its content", memory.address);
        continue;
      }
      part_.memory.push_back({memory.call, memory.address, memory.header.flags, found->second});
    }
  }

  std::vector<char> bytes_;  // the file, then one segment after the other
  uint64_t position_ = 0;    // of that segment
  read_part part_;
  std::map<std::pair<uint32_t, uint64_t>, stretch> stretches_;
  std::vector<memory_record> memories_;
};

}  // namespace

size_t read_part::call_count() const {
  size_t count = 0;
  for (const auto& [thread, list] : calls) count += list.size();
  return count;
}

read_part read_part_file(const std::string& path) {
  return part_parser(path).parse();
}

std::vector<std::string> part_paths(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == part_suffix) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace zevent::recorder_test
