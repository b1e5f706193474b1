#include "trace/recording_part.hpp"

#include <algorithm>
#include <cstring>

namespace zevent::trace {
namespace {

using recording::record_kind;

// A segment is a handful of these; a file that says otherwise is damaged.
constexpr uint64_t least_unit_bytes = 4096;

// The recorder may be storing to the file while it is read. acquire: pairs with the release by
// which it publishes what stands before and behind the word.
template <typename T>
T load_acquire(std::span<const std::byte> at) {
  return __atomic_load_n(reinterpret_cast<const T*>(at.data()), __ATOMIC_ACQUIRE);
}

template <typename T>
T copy_of(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <size_t N>
std::string text_of(const char (&field)[N]) {
  return {field, strnlen(field, N)};
}

uint64_t least_bytes(record_kind kind) {
  switch (kind) {
    case record_kind::call:
      return sizeof(recording::call_record);
    case record_kind::completion:
      return sizeof(recording::completion_record);
    case record_kind::thread:
      return sizeof(recording::thread_record);
    case record_kind::blob:
      return sizeof(recording::blob_record);
    case record_kind::memory:
      return sizeof(recording::memory_record);
    case record_kind::calibration:
      return sizeof(recording::calibration_record);
    case record_kind::fact:
      return sizeof(recording::fact_record);
    case record_kind::counter:
      return sizeof(recording::counter_record);
    case record_kind::device_time:
      return sizeof(recording::device_time_record);
    case record_kind::device_clock:
      return sizeof(recording::device_clock_record);
  }
  return sizeof(recording::record_header);
}

}  // namespace

result<recording_part> recording_part::open(const std::filesystem::path& path) {
  auto mapped = map_file(path);
  if (!mapped) return tl::unexpected(mapped.error());
  return parse(std::move(*mapped), path.string());
}

result<recording_part> recording_part::parse(owned_bytes file, std::string name) {
  recording_part part;
  part.file_ = std::move(file);
  part.name_ = std::move(name);
  const auto bytes = part.file_.bytes;
  if (bytes.size() < sizeof part.header_ || load_acquire<uint64_t>(bytes) != recording::file_magic)
    return fail("{} is not a part of a recording", part.name_);
  part.header_ = copy_of<recording::file_header>(bytes);
  if (part.header_.version != recording::format_version)
    return fail("{} has recording format version {}; this zevent reads version {}", part.name_,
                part.header_.version, recording::format_version);
  const auto unit = part.header_.segment_unit_bytes;
  if (part.header_.header_bytes < sizeof part.header_ || part.header_.header_bytes % 8 != 0 ||
      unit < least_unit_bytes || unit % 8 != 0)
    return fail("{} has a damaged header", part.name_);
  part.walk_segments();
  return part;
}

std::string recording_part::host() const {
  return text_of(header_.host);
}

std::string recording_part::stop_reason() const {
  return text_of(header_.stop_reason);
}

void recording_part::walk_segments() {
  const uint64_t size = file_.bytes.size();
  const uint64_t unit = header_.segment_unit_bytes;
  uint64_t offset = header_.header_bytes;
  while (offset < size && size - offset >= sizeof(recording::segment_header)) {
    uint64_t segment_bytes = unit;
    if (load_acquire<uint64_t>(file_.bytes.subspan(offset)) == recording::segment_magic) {
      const auto header = copy_of<recording::segment_header>(file_.bytes.subspan(offset));
      if (header.bytes == 0 || header.bytes % unit != 0)
        damage_.push_back(fmt::format("the segment at byte {} has a damaged header", offset));
      else
        segment_bytes = header.bytes;
      walk_records(offset + sizeof header, offset + std::min(segment_bytes, size - offset));
    }
    if (segment_bytes >= size - offset) break;
    offset += segment_bytes;
  }
  for (auto& each : threads_)
    std::stable_sort(each.stretches.begin(), each.stretches.end(),
                     [](const stretch& a, const stretch& b) { return a.order < b.order; });
}

std::optional<recording_part::record> recording_part::record_at(uint64_t offset,
                                                                uint64_t end) const {
  if (offset >= end || end - offset < sizeof(recording::record_header)) return std::nullopt;
  const auto rest = file_.bytes.subspan(offset, end - offset);
  const auto size = load_acquire<uint32_t>(rest);
  if (size < sizeof(recording::record_header) || size > rest.size()) return std::nullopt;
  auto header = copy_of<recording::record_header>(rest);
  header.size = size;
  if (size < least_bytes(header.kind)) return std::nullopt;
  return record{header, rest.first(size)};
}

void recording_part::walk_records(uint64_t begin, uint64_t end) {
  recorded_thread* owner = nullptr;
  uint64_t offset = begin;
  while (const auto each = record_at(offset, end)) {
    const uint64_t next = recording::align_record(offset + each->header.size);
    if (each->header.kind == record_kind::thread) {
      const auto begins = copy_of<recording::thread_record>(each->bytes);
      owner = &thread_of(begins);
      owner->stretches.push_back({begins.stretch, next, next});
    } else if (owner != nullptr) {
      owner->stretches.back().end = next;
      add_record(*each);
    } else {
      damage_.push_back(fmt::format("the segment at byte {} belongs to no thread", begin));
      return;
    }
    offset = next;
  }
  const bool ended_by_zero =
      offset + sizeof(uint32_t) > end || load_acquire<uint32_t>(file_.bytes.subspan(offset)) == 0;
  if (!ended_by_zero) damage_.push_back(fmt::format("the record at byte {} is damaged", offset));
}

recorded_thread& recording_part::thread_of(const recording::thread_record& begins) {
  auto found = std::find_if(threads_.begin(), threads_.end(), [&](const recorded_thread& each) {
    return each.number == begins.thread;
  });
  if (found == threads_.end())
    found = threads_.insert(found, {begins.thread, begins.thread_id, text_of(begins.name), {}});
  return *found;
}

void recording_part::add_record(const record& each) {
  switch (each.header.kind) {
    case record_kind::call:
      ++calls_;
      break;
    case record_kind::blob:
      blobs_.push_back({copy_of<recording::blob_record>(each.bytes).hash,
                        each.bytes.subspan(sizeof(recording::blob_record))});
      break;
    case record_kind::calibration:
      calibrations_.push_back(copy_of<recording::calibration_record>(each.bytes));
      break;
    case record_kind::fact: {
      const auto text = each.bytes.subspan(sizeof(recording::fact_record));
      const size_t name_bytes = std::min<size_t>(each.header.detail, text.size());
      facts_.emplace_back(text_of(text.first(name_bytes)), text_of(text.subspan(name_bytes)));
      break;
    }
    case record_kind::counter:
      counters_.emplace_back(text_of(each.bytes.subspan(sizeof(recording::counter_record))),
                             copy_of<recording::counter_record>(each.bytes).value);
      break;
    case record_kind::device_time:
      device_times_.push_back(copy_of<recording::device_time_record>(each.bytes));
      break;
    case record_kind::device_clock:
      device_clocks_.push_back(copy_of<recording::device_clock_record>(each.bytes));
      break;
    case record_kind::completion:
    case record_kind::thread:
    case record_kind::memory:
      break;
  }
}

recorded_calls::recorded_calls(const recording_part& part, const recorded_thread& thread)
    : part_(&part), thread_(&thread) {
  for (size_t i = 0; i < thread.stretches.size(); ++i)
    stretch_at_.emplace_back(thread.stretches[i].begin, i);
  std::sort(stretch_at_.begin(), stretch_at_.end());
  if (!thread.stretches.empty()) offset_ = thread.stretches.front().begin;
}

std::optional<recorded_call> recorded_calls::next() {
  while (pending_.empty() || !front_is_settled())
    if (!read_record()) break;
  if (pending_.empty()) return std::nullopt;
  auto& first = pending_.front();
  if (!first.call.injected) --program_calls_pending_;
  // It returned, but the record that would say when is not there.
  if (!first.end_known) first.call.returned = false;
  auto call = std::move(first.call);
  pending_.pop_front();
  return call;
}

bool recorded_calls::front_is_settled() const {
  const auto& first = pending_.front();
  if (first.completed) return true;
  if (first.call.returned) return first.end_known && first.call.end_ticks < last_start_;
  return program_calls_pending_ > (first.call.injected ? 0 : 1);
}

// False at the end of the thread.
bool recorded_calls::read_record() {
  while (stretch_ < thread_->stretches.size()) {
    const auto& current = thread_->stretches[stretch_];
    if (const auto record = part_->record_at(offset_, current.end)) {
      const uint64_t begin = offset_;
      offset_ = recording::align_record(begin + record->header.size);
      if (record->header.kind == record_kind::call) begin_call(*record, begin);
      if (record->header.kind == record_kind::completion) complete_call(*record);
      if (record->header.kind == record_kind::memory) add_memory(*record);
      return true;
    }
    if (++stretch_ < thread_->stretches.size()) offset_ = thread_->stretches[stretch_].begin;
  }
  return false;
}

void recorded_calls::begin_call(const recording_part::record& record, uint64_t offset) {
  const auto raw = copy_of<recording::call_record>(record.bytes);
  const auto returned =
      load_acquire<uint64_t>(record.bytes.subspan(offsetof(recording::call_record, returned)));
  const auto duration = static_cast<uint32_t>(returned);
  pending next;
  next.stretch = stretch_;
  next.end_known = duration != recording::duration_is_long;
  auto& call = next.call;
  call.offset = offset;
  call.function = record.header.detail;
  call.injected = (record.header.flags & recording::call_is_injected) != 0;
  call.returned = returned != 0;
  call.result = static_cast<uint32_t>(returned >> 32);
  // The clock of one thread does not go backwards; whoever merges threads relies on it.
  call.start_ticks = last_start_ = std::max(raw.start, last_start_);
  call.end_ticks = call.start_ticks;
  if (next.end_known && duration != 0)
    call.end_ticks += std::min<uint64_t>(duration - 1, UINT64_MAX - call.start_ticks);
  call.inputs = record.bytes.subspan(sizeof raw);
  if (!call.injected) ++program_calls_pending_;
  pending_.push_back(std::move(next));
}

void recorded_calls::complete_call(const recording_part::record& record) {
  const auto raw = copy_of<recording::completion_record>(record.bytes);
  auto* of = find(raw.call);
  // A death between the completion and the word that says "returned": the call did not return.
  if (of == nullptr || !of->call.returned || of->completed) return;
  of->call.outputs = record.bytes.subspan(sizeof raw);
  of->call.end_ticks = std::max(raw.end, of->call.start_ticks);
  of->completed = of->end_known = true;
}

void recorded_calls::add_memory(const recording_part::record& record) {
  const auto raw = copy_of<recording::memory_record>(record.bytes);
  if (auto* of = find(raw.call)) of->call.memory.push_back(raw);
}

recorded_calls::pending* recorded_calls::find(uint64_t call_offset) {
  if (pending_.empty()) return nullptr;
  if (pending_.back().call.offset == call_offset) return &pending_.back();
  const auto behind =
      std::upper_bound(stretch_at_.begin(), stretch_at_.end(), std::pair(call_offset, SIZE_MAX));
  if (behind == stretch_at_.begin()) return nullptr;
  const auto wanted = std::pair(std::prev(behind)->second, call_offset);
  const auto found = std::lower_bound(pending_.begin(), pending_.end(), wanted,
                                      [](const pending& each, const auto& place) {
                                        return std::pair(each.stretch, each.call.offset) < place;
                                      });
  return found != pending_.end() && found->call.offset == call_offset ? &*found : nullptr;
}

}  // namespace zevent::trace
