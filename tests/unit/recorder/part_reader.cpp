#include "part_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

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
    uint64_t at = part_.header.header_bytes;
    while (at < bytes_.size()) {
      segment_header segment{};
      if (!read(at, segment) || segment.magic != segment_magic) {
        at += unit;
        continue;
      }
      if (segment.bytes == 0 || segment.bytes % unit != 0) fault("size of segment at {}", at);
      parse_segment(at + sizeof(segment), at + segment.bytes);
      at += segment.bytes;
    }
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
        read_call copy{at, thread, header.detail, header.flags, call.start, {}, 0, {}, {}};
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

  std::vector<char> bytes_;
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
