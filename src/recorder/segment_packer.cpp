#include "recorder/segment_packer.hpp"

#include <bit>
#include <cstring>

namespace zevent::recorder {
namespace {

using recording::block_header;
using recording::call_record;
using recording::record_header;
using recording::record_kind;

uint64_t word_at(const std::byte* place) {
  uint64_t word;
  std::memcpy(&word, place, sizeof(word));
  return word;
}

constexpr uint64_t word_bytes = sizeof(uint64_t);
constexpr uint64_t multiplier = 0x9e37'79b9'7f4a'7c15;

// Of everything but the times. `bytes` is a multiple of 8.
uint64_t hash_of_call(const std::byte* record, uint64_t bytes) {
  uint64_t hash = (word_at(record) ^ word_at(record + offsetof(call_record, returned)) >> 32) *  //
                  multiplier;
  for (uint64_t at = sizeof(call_record); at < bytes; at += word_bytes)
    hash = (std::rotl(hash, 29) ^ word_at(record + at)) * multiplier;
  return hash;
}

bool differ_in_times_only(const std::byte* a, const std::byte* b, uint64_t bytes) {
  constexpr uint64_t returned = offsetof(call_record, returned);
  uint64_t difference =
      (word_at(a) ^ word_at(b)) | (word_at(a + returned) ^ word_at(b + returned)) >> 32;
  if (difference != 0) return false;
  for (uint64_t at = sizeof(call_record); at < bytes; at += word_bytes)
    difference |= word_at(a + at) ^ word_at(b + at);
  return difference == 0;
}

}  // namespace

// Where a record goes next, and what it is told by. Kept in registers, not in the object.
struct segment_packer::progress {
  std::byte* out;
  uint64_t last_start;
  uint64_t last_template;

  void put(uint64_t word) {
    std::memcpy(out, &word, sizeof(word));
    out += sizeof(word);
  }
  void put_whole(const std::byte* record, uint64_t bytes, uint64_t becomes_template) {
    put(recording::whole_record(becomes_template));
    std::memcpy(out, record, bytes);
    out += bytes;
  }
};

std::span<const std::byte> segment_packer::pack(const mapped_segment& segment) {
  progress now{block_.data() + sizeof(block_header), 0, 0};
  forget_templates();
  const std::byte* const end = segment.begin + segment.bytes;
  const std::byte* record = segment.begin + sizeof(recording::segment_header);
  while (static_cast<uint64_t>(end - record) >= sizeof(record_header)) {
    record_header header;
    std::memcpy(&header, record, sizeof(header));
    if (header.size == 0) break;
    const uint64_t bytes = recording::align_record(header.size);
    if (header.kind == record_kind::call) [[likely]] {
      add_call(now, segment.begin, record, bytes);
    } else {
      if (header.kind == record_kind::thread) {
        forget_templates();
        now.last_start = now.last_template = 0;
      }
      now.put_whole(record, bytes, 0);
    }
    record += bytes;
  }
  const auto packed_bytes = static_cast<uint64_t>(now.out - block_.data()) - sizeof(block_header);
  now.put(recording::block_trailer(segment.position));
  const block_header header{segment.position, packed_bytes};
  std::memcpy(block_.data(), &header, sizeof(header));
  return {block_.data(), now.out};
}

[[gnu::always_inline]] inline void segment_packer::add_call(progress& now, const std::byte* segment,
                                                            const std::byte* record,
                                                            uint64_t bytes) {
  const uint64_t start = word_at(record + offsetof(call_record, start));
  const uint64_t later = start - now.last_start;
  now.last_start = start;
  if (bytes > recording::largest_template_bytes) [[unlikely]]
    return now.put_whole(record, bytes, 0);

  const uint64_t returned_low = word_at(record + offsetof(call_record, returned)) & UINT32_MAX;
  const bool times_fit = (later | returned_low) < recording::packed_time_limit;
  const auto is_like = [&](uint64_t number) {
    return templates_[number] != 0 &&
           differ_in_times_only(record, segment + templates_[number], bytes);
  };
  const auto put_like = [&](uint64_t number) {
    now.put(recording::like_template(number, later, returned_low));
    now.last_template = number;
  };
  // Programs go round in loops: what came after the same call last time mostly comes again.
  uint16_t& follower = followers_[now.last_template];
  if (times_fit && is_like(follower)) [[likely]]
    return put_like(follower);

  // Each call may be in one of two places, so that two that are made often hardly ever take it in
  // turns to drive the other out.
  const uint64_t place = hash_of_call(record, bytes) >> (64 - recording::template_bits);
  const uint64_t first = place < 2 ? place + 2 : place;
  const uint64_t second = first ^ 1;
  const uint64_t found = is_like(first) ? first : is_like(second) ? second : 0;
  const uint64_t unused = templates_[first] != 0 && templates_[second] == 0 ? second : first;
  follower = static_cast<uint16_t>(found != 0 ? found : unused);
  if (found != 0 && times_fit) return put_like(found);
  now.last_template = follower;
  templates_[follower] = static_cast<uint32_t>(record - segment);
  now.put_whole(record, bytes, follower);
}

void segment_packer::forget_templates() {
  templates_.fill(0);
  followers_.fill(0);
}

}  // namespace zevent::recorder
