#include "recorder/call_writer.hpp"

#include <algorithm>

#include "recorder/blob_store.hpp"

namespace zevent::recorder {

void call_writer::grow(uint64_t bytes) {
  if (!spilled_) return spill(bytes);
  auto& scratch = log_.thread().scratch;
  const auto used = static_cast<size_t>(at_ - record_);
  scratch.resize(std::max(2 * scratch.size(), used + bytes));
  record_ = scratch.data();
  at_ = record_ + used;
  end_ = record_ + scratch.size();
}

// From here on the record is put together in memory, and the segment is free for other records.
void call_writer::spill(uint64_t more_bytes) {
  auto& scratch = log_.thread().scratch;
  const auto used = static_cast<size_t>(at_ - record_);
  if (scratch.size() < used + more_bytes) scratch.resize(2 * (used + more_bytes));
  std::memcpy(scratch.data(), record_, used);
  log_.cancel(record_, used);
  record_ = scratch.data();
  at_ = record_ + used;
  end_ = record_ + scratch.size();
  spilled_ = true;
}

uint32_t call_writer::finish_spilled() {
  const auto size = static_cast<uint64_t>(at_ - record_);
  spilled_ = false;
  if (size > UINT32_MAX) return 0;
  std::byte* place = log_.reserve(size, 0);
  if (place == nullptr) return 0;
  std::memcpy(place, record_, size);
  record_ = place;
  return static_cast<uint32_t>(size);
}

void call_writer::blob(const void* address, uint64_t count) {
  if (!spilled_) spill(1 + sizeof(count) + sizeof(recording::blob_hash));
  const auto hash = keep_blob(log_, {static_cast<const std::byte*>(address), count});
  if (!hash) return form(api::content_form::nothing);
  std::byte* place = claim(1 + sizeof(count) + sizeof(*hash));
  store<1>(place, api::content_form::blob);
  store<8>(place + 1, count);
  store<16>(place + 9, *hash);
}

void call_writer::string(const char* text) {
  const size_t size = strnlen(text, api::max_string_bytes);
  std::byte* place = claim(5 + size);
  store<1>(place, api::content_form::here);
  store<4>(place + 1, static_cast<uint32_t>(size));
  std::memcpy(place + 5, text, size);
}

void call_writer::unknown_in_chain(uint32_t stype) {
  std::byte* place = claim(5);
  store<1>(place, api::content_form::unknown);
  store<4>(place + 1, stype);
}

uint64_t call_writer::valid_length(const void* buffer, uint64_t length) {
  for (size_t i = 0; i < capacity_count_; ++i)
    if (capacities_[i].buffer == buffer)
      return after_call_ ? std::min(capacities_[i].length, length) : length;
  if (!after_call_ && capacity_count_ < capacities_.size())
    capacities_[capacity_count_++] = {buffer, length};
  return length;
}

}  // namespace zevent::recorder
