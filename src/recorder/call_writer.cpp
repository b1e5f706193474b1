#include "recorder/call_writer.hpp"

#include <algorithm>
#include <cerrno>

#include "recorder/blob_store.hpp"
#include "recorder/process_recording.hpp"

namespace zevent::recorder {

void call_writer::grow(uint64_t bytes) {
  if (!spilled_) return spill(bytes);
  const auto used = static_cast<uint64_t>(at_ - record_);
  use_scratch(scratch_->grown(2 * (used + bytes)), used);
}

void call_writer::use_scratch(scratch_memory* memory, uint64_t used_bytes) {
  scratch_ = memory;
  record_ = memory->begin();
  at_ = record_ + used_bytes;
  end_ = memory->end();
}

// In the child of a fork that a signal handler made there may be none.
scratch_memory::keeper* call_writer::scratch_keeper() {
  return log_.attached() ? &log_.thread().scratch : nullptr;
}

void call_writer::leave_scratch() {
  spilled_ = false;
  scratch_memory::give_back(scratch_keeper(), scratch_);
}

// From here on the record is put together in memory, and the segment is free for other records.
void call_writer::spill(uint64_t more_bytes) {
  const auto used = static_cast<uint64_t>(at_ - record_);
  auto* memory = scratch_memory::take(scratch_keeper(), 2 * (used + more_bytes));
  std::memcpy(memory->begin(), record_, used);
  log_.cancel(record_, used);
  use_scratch(memory, used);
  spilled_ = true;
}

void call_writer::give_up() {
  if (spilled_)
    leave_scratch();
  else
    log_.cancel(record_, static_cast<uint64_t>(at_ - record_));
  if (log_.attached()) log_.thread().recording->part().stop("there is no memory left", ENOMEM);
}

uint32_t call_writer::finish_spilled() {
  const auto size = static_cast<uint64_t>(at_ - record_);
  std::byte* place = size <= UINT32_MAX ? log_.reserve(size, 0) : nullptr;
  if (place != nullptr) std::memcpy(place, record_, size);
  record_ = place;
  leave_scratch();
  return place != nullptr ? static_cast<uint32_t>(size) : 0;
}

void call_writer::blob(const void* address, uint64_t count) {
  if (!can_read(address, count)) return form(api::content_form::nothing);
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
