#include "trace/recording_part.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <set>

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
    case record_kind::usage:
      return sizeof(recording::usage_record);
  }
  return sizeof(recording::record_header);
}

result<recording::file_header> read_header(std::span<const std::byte> file,
                                           const std::string& name) {
  if (file.size() < sizeof(recording::file_header) ||
      load_acquire<uint64_t>(file) != recording::file_magic)
    return fail("{} is not a part of a recording", name);
  const auto header = copy_of<recording::file_header>(file);
  if (header.version < recording::first_format_version ||
      header.version > recording::format_version)
    return fail("{} has recording format version {}; this zevent reads versions {} to {}", name,
                header.version, recording::first_format_version, recording::format_version);
  if (header.header_bytes < sizeof header || header.header_bytes % 8 != 0 ||
      header.segment_unit_bytes < least_unit_bytes || header.segment_unit_bytes % 8 != 0)
    return fail("{} has a damaged header", name);
  return header;
}

// What is at a unit of the file.
struct segment_place {
  uint64_t offset = 0;
  uint64_t magic = 0;
  uint64_t position = 0;
  std::span<const std::byte> bytes;  // the header included; as far as the file goes
  bool damaged = false;
  uint64_t header_bytes() const {
    return magic == recording::first_segment_magic ? sizeof(recording::first_segment_header)
                                                   : sizeof(recording::segment_header);
  }
  // One that its recorder may use again.
  bool may_change(uint64_t unit_bytes) const {
    return magic == recording::segment_magic && position != 0 && bytes.size() <= unit_bytes;
  }
};

// Reads the header as it was at one moment: a recorder that uses the segment again takes its magic
// away first, and gives it another position. The magic is 0 where there is none.
constexpr int most_attempts = 100;

recording::segment_header read_segment_header(std::span<const std::byte> at) {
  using recording::segment_header;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    segment_header header{};
    header.magic = load_acquire<uint64_t>(at);
    if (header.magic != recording::segment_magic &&
        header.magic != recording::first_segment_magic &&
        header.magic != recording::packed_area_magic)
      break;
    header.bytes = load_acquire<uint64_t>(at.subspan(offsetof(segment_header, bytes)));
    header.position = load_acquire<uint64_t>(at.subspan(offsetof(segment_header, position)));
    if (header.magic == load_acquire<uint64_t>(at) &&
        header.position == load_acquire<uint64_t>(at.subspan(offsetof(segment_header, position))))
      return header;
  }
  return {};
}

std::vector<segment_place> list_segments(std::span<const std::byte> file,
                                         const recording::file_header& header) {
  std::vector<segment_place> all;
  const uint64_t unit = header.segment_unit_bytes;
  uint64_t offset = header.header_bytes;
  while (offset < file.size() && file.size() - offset >= sizeof(recording::segment_header)) {
    uint64_t bytes = unit;
    const auto begin = read_segment_header(file.subspan(offset));
    segment_place place{offset, begin.magic, 0, {}};
    if (place.magic != 0) {
      place.damaged = begin.bytes == 0 || begin.bytes % unit != 0;
      if (!place.damaged) bytes = begin.bytes;
      place.position = place.magic == recording::first_segment_magic ? offset : begin.position;
      place.bytes = file.subspan(offset, std::min(bytes, file.size() - offset));
      all.push_back(place);
    }
    if (bytes >= file.size() - offset) break;
    offset += bytes;
  }
  return all;
}

std::optional<recorded_entry> record_at(std::span<const std::byte> bytes, uint64_t offset) {
  if (offset >= bytes.size() || bytes.size() - offset < sizeof(recording::record_header))
    return std::nullopt;
  const auto rest = bytes.subspan(offset);
  const auto size = load_acquire<uint32_t>(rest);
  if (size < sizeof(recording::record_header) || size > rest.size()) return std::nullopt;
  recorded_entry entry;
  entry.header = copy_of<recording::record_header>(rest);
  entry.header.size = size;
  if (size < least_bytes(entry.header.kind)) return std::nullopt;
  entry.bytes = rest.first(size);
  if (entry.header.kind == record_kind::call) {
    entry.start = copy_of<recording::call_record>(rest).start;
    entry.returned =
        load_acquire<uint64_t>(rest.subspan(offsetof(recording::call_record, returned)));
  }
  return entry;
}

// Copies a segment that is being written, record after record: what belongs to one is behind its
// size, and the completion of a call behind the word that says that it returned. Copied in any
// other order, a record could be there before its bytes are.
std::vector<std::byte> copy_records(std::span<const std::byte> segment) {
  std::vector<std::byte> copy(segment.size());
  uint64_t offset = sizeof(recording::segment_header);
  std::memcpy(copy.data(), segment.data(), offset);
  while (segment.size() - offset >= sizeof(recording::record_header) &&
         load_acquire<uint32_t>(segment.subspan(offset)) != 0) {
    const auto record = record_at(segment, offset);
    if (!record) {
      // Damage, for whoever reads the copy to find.
      std::memcpy(copy.data() + offset, segment.data() + offset, segment.size() - offset);
      break;
    }
    std::memcpy(copy.data() + offset, record->bytes.data(), record->bytes.size());
    if (record->header.kind == record_kind::call)
      std::memcpy(copy.data() + offset + offsetof(recording::call_record, returned),
                  &record->returned, sizeof(record->returned));
    offset =
        std::min<uint64_t>(offset + recording::align_record(record->header.size), segment.size());
  }
  return copy;
}

segment_copies copy_segments(std::span<const std::byte> file) {
  segment_copies copies;
  const auto header = read_header(file, "");
  if (!header) return copies;
  for (const auto& place : list_segments(file, *header)) {
    if (!place.may_change(header->segment_unit_bytes)) continue;
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
      const uint64_t position = read_segment_header(place.bytes).position;
      auto copy = std::make_shared<const std::vector<std::byte>>(copy_records(place.bytes));
      __sync_synchronize();
      if (position == 0 || position != read_segment_header(place.bytes).position) continue;
      copies[place.offset] = {position, std::move(copy)};
      break;
    }
  }
  return copies;
}

// A packed segment in an area. One that is not whole was being written when the process died, or
// the file was cut.
struct packed_block {
  record_row row;
  uint64_t segment_position = 0;
  uint64_t area_offset = 0;
  bool whole = false;
};

void list_blocks(const segment_place& area, std::vector<packed_block>& all) {
  auto rest = area.bytes.subspan(sizeof(recording::segment_header));
  while (rest.size() >= sizeof(recording::block_header)) {
    const auto header = copy_of<recording::block_header>(rest);
    if (header.position == 0) break;
    rest = rest.subspan(sizeof header);
    const uint64_t bytes = std::min<uint64_t>(header.packed_bytes, rest.size());
    packed_block block{
        {rest.first(bytes), header.position + sizeof(recording::segment_header), true},
        header.position,
        area.offset};
    rest = rest.subspan(bytes);
    block.whole = header.packed_bytes == bytes && bytes % 8 == 0 &&
                  rest.size() >= sizeof(uint64_t) &&
                  load_acquire<uint64_t>(rest) == recording::block_trailer(header.position);
    all.push_back(block);
    if (!block.whole) break;
    rest = rest.subspan(sizeof(uint64_t));
  }
}

}  // namespace

record_cursor::record_cursor(const record_row& row) : row_(row), position_(row.position) {
  if (row.packed) templates_.resize(recording::template_count);
}

std::optional<recorded_entry> record_cursor::next() {
  auto entry = row_.packed ? next_packed() : record_at(row_.bytes, offset_);
  if (!entry) return entry;
  const uint64_t bytes = recording::align_record(entry->header.size);
  if (!row_.packed) offset_ = std::min<uint64_t>(offset_ + bytes, row_.bytes.size());
  entry->position = position_;
  position_ += bytes;
  return entry;
}

std::optional<recorded_entry> record_cursor::next_packed() {
  constexpr uint64_t word_bytes = sizeof(uint64_t);
  const uint64_t size = row_.bytes.size();
  if (size - offset_ < word_bytes) return std::nullopt;
  const auto word = copy_of<uint64_t>(row_.bytes.subspan(offset_));
  if (const uint64_t number = word % recording::template_count; number != 0) {
    if (templates_[number] == 0) return std::nullopt;
    auto entry = record_at(row_.bytes, templates_[number]);
    if (!entry) return entry;
    last_start_ += word >> recording::template_bits & (recording::packed_time_limit - 1);
    entry->start = last_start_;
    entry->returned = (entry->returned & ~uint64_t{UINT32_MAX}) |
                      word >> (recording::template_bits + recording::packed_time_bits);
    offset_ += word_bytes;
    return entry;
  }
  const uint64_t becomes = word >> recording::template_bits;
  const auto entry = record_at(row_.bytes, offset_ + word_bytes);
  if (!entry || becomes >= recording::template_count) return std::nullopt;
  const uint64_t bytes = recording::align_record(entry->header.size);
  if (entry->header.kind == record_kind::call) {
    last_start_ = entry->start;
    if (becomes != 0 && bytes <= recording::largest_template_bytes)
      templates_[becomes] = offset_ + word_bytes;
  } else if (entry->header.kind == record_kind::thread) {
    std::fill(templates_.begin(), templates_.end(), 0);
    last_start_ = 0;
  }
  offset_ = std::min(offset_ + word_bytes + bytes, size);
  return entry;
}

bool record_cursor::at_end() const {
  const auto rest = row_.bytes.subspan(offset_);
  if (row_.packed) return rest.empty();
  return rest.size() < sizeof(uint32_t) || load_acquire<uint32_t>(rest) == 0;
}

// The segments that may change are copied before the file is looked at as a whole: what the
// recorder packs meanwhile is found in both, what it packed before is found there.
result<recording_part> recording_part::open(const std::filesystem::path& path) {
  auto first = map_file(path);
  if (!first) return tl::unexpected(first.error());
  auto copies = copy_segments(first->bytes);
  auto mapped = map_file(path);
  if (!mapped) return tl::unexpected(mapped.error());
  return parse(std::move(*mapped), path.string(), std::move(copies));
}

result<recording_part> recording_part::parse(owned_bytes file, std::string name) {
  auto copies = copy_segments(file.bytes);
  return parse(std::move(file), std::move(name), std::move(copies));
}

result<recording_part> recording_part::parse(owned_bytes file, std::string name,
                                             segment_copies copies) {
  recording_part part;
  part.file_ = std::move(file);
  part.name_ = std::move(name);
  part.copies_ = std::move(copies);
  const auto header = read_header(part.file_.bytes, part.name_);
  if (!header) return tl::unexpected(header.error());
  part.header_ = *header;
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
  const auto places = list_segments(file_.bytes, header_);
  // Listed once: the recorder may be adding to them.
  std::vector<packed_block> blocks;
  for (const auto& place : places)
    if (place.magic == recording::packed_area_magic) list_blocks(place, blocks);
  // What is there in two forms counts once: the whole block, else the segment, else what there is
  // of a block.
  std::set<uint64_t> in_blocks, in_segments;
  for (const auto& [offset, copy] : copies_) in_segments.insert(copy.position);
  for (const auto& block : blocks)
    if (block.whole) in_blocks.insert(block.segment_position);

  for (const auto& block : blocks)
    if (block.whole || (!in_blocks.contains(block.segment_position) &&
                        !in_segments.contains(block.segment_position)))
      walk_records(block.row, block.area_offset);
  // Whatever has become of their places since.
  constexpr uint64_t header_bytes = sizeof(recording::segment_header);
  for (const auto& [offset, copy] : copies_)
    if (!in_blocks.contains(copy.position))
      walk_records(
          {std::span(*copy.bytes).subspan(header_bytes), copy.position + header_bytes, false},
          offset);
  for (const auto& place : places) {
    if (place.damaged)
      damage_.push_back(fmt::format("the segment at byte {} has a damaged header", place.offset));
    if (place.magic == recording::packed_area_magic || place.may_change(header_.segment_unit_bytes))
      continue;
    walk_records(
        {place.bytes.subspan(place.header_bytes()), place.position + place.header_bytes(), false},
        place.offset);
  }
  for (auto& each : threads_)
    std::stable_sort(each.stretches.begin(), each.stretches.end(),
                     [](const stretch& a, const stretch& b) { return a.order < b.order; });
}

void recording_part::walk_records(const record_row& row, uint64_t place) {
  recorded_thread* owner = nullptr;
  record_cursor cursor(row);
  while (const auto each = cursor.next()) {
    if (each->header.kind == record_kind::thread) {
      const auto begins = copy_of<recording::thread_record>(each->bytes);
      owner = &thread_of(begins);
      owner->stretches.push_back({begins.stretch, cursor.rest()});
    } else if (owner != nullptr) {
      add_record(*each);
    } else {
      damage_.push_back(fmt::format("the segment at byte {} belongs to no thread", place));
      return;
    }
  }
  if (!cursor.at_end())
    damage_.push_back(fmt::format("a record of the segment at byte {} is damaged", place));
}

recorded_thread& recording_part::thread_of(const recording::thread_record& begins) {
  const auto [known, is_new] = thread_places_.try_emplace(begins.thread, threads_.size());
  if (is_new) threads_.push_back({begins.thread, begins.thread_id, text_of(begins.name), {}});
  return threads_[known->second];
}

void recording_part::add_record(const recorded_entry& each) {
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
    case record_kind::usage:
      break;
  }
}

recorded_calls::recorded_calls(const recorded_thread& thread) : thread_(&thread) {
  for (size_t i = 0; i < thread.stretches.size(); ++i)
    stretch_at_.emplace_back(thread.stretches[i].records.position, i);
  std::sort(stretch_at_.begin(), stretch_at_.end());
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
  for (; stretch_ < thread_->stretches.size(); ++stretch_, cursor_.reset()) {
    if (!cursor_) cursor_.emplace(thread_->stretches[stretch_].records);
    const auto record = cursor_->next();
    // The stretch of another thread may follow.
    if (!record || record->header.kind == record_kind::thread) continue;
    if (record->header.kind == record_kind::call) begin_call(*record);
    if (record->header.kind == record_kind::completion) complete_call(*record);
    if (record->header.kind == record_kind::memory) add_memory(*record);
    if (record->header.kind == record_kind::usage) add_usage(*record);
    return true;
  }
  return false;
}

void recorded_calls::begin_call(const recorded_entry& record) {
  const uint64_t returned = record.returned;
  const auto duration = static_cast<uint32_t>(returned);
  pending next;
  next.stretch = stretch_;
  next.end_known = duration != recording::duration_is_long;
  auto& call = next.call;
  call.position = record.position;
  call.function = record.header.detail;
  call.injected = (record.header.flags & recording::call_is_injected) != 0;
  call.returned = returned != 0;
  call.result = static_cast<uint32_t>(returned >> 32);
  // The clock of one thread does not go backwards; whoever merges threads relies on it.
  call.start_ticks = last_start_ = std::max(record.start, last_start_);
  call.end_ticks = call.start_ticks;
  if (next.end_known && duration != 0)
    call.end_ticks += std::min<uint64_t>(duration - 1, UINT64_MAX - call.start_ticks);
  call.inputs = record.bytes.subspan(sizeof(recording::call_record));
  if (!call.injected) ++program_calls_pending_;
  pending_.push_back(std::move(next));
}

void recorded_calls::complete_call(const recorded_entry& record) {
  const auto raw = copy_of<recording::completion_record>(record.bytes);
  auto* of = find(raw.call);
  // A death between the completion and the word that says "returned": the call did not return.
  if (of == nullptr || !of->call.returned || of->completed) return;
  of->call.outputs = record.bytes.subspan(sizeof raw);
  of->call.end_ticks = std::max(raw.end, of->call.start_ticks);
  of->completed = of->end_known = true;
}

void recorded_calls::add_memory(const recorded_entry& record) {
  const auto raw = copy_of<recording::memory_record>(record.bytes);
  if (auto* of = find(raw.call)) of->call.memory.push_back(raw);
}

void recorded_calls::add_usage(const recorded_entry& record) {
  const auto raw = copy_of<recording::usage_record>(record.bytes);
  if (auto* of = find(raw.call)) of->call.usage = record.bytes;
}

recorded_calls::pending* recorded_calls::find(uint64_t call_position) {
  if (pending_.empty()) return nullptr;
  if (pending_.back().call.position == call_position) return &pending_.back();
  const auto behind =
      std::upper_bound(stretch_at_.begin(), stretch_at_.end(), std::pair(call_position, SIZE_MAX));
  if (behind == stretch_at_.begin()) return nullptr;
  const auto wanted = std::pair(std::prev(behind)->second, call_position);
  const auto found = std::lower_bound(pending_.begin(), pending_.end(), wanted,
                                      [](const pending& each, const auto& place) {
                                        return std::pair(each.stretch, each.call.position) < place;
                                      });
  return found != pending_.end() && found->call.position == call_position ? &*found : nullptr;
}

}  // namespace zevent::trace
