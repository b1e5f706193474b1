#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "api/call_codec.hpp"
#include "recorder/readable.hpp"
#include "recorder/thread_log.hpp"

namespace zevent::recorder {

// Bytes of this size and more are kept as blobs.
inline constexpr uint64_t least_blob_bytes = 1024;

// Puts the bytes of one half of a call (api/call_codec.hpp) where they belong: straight behind the
// record's header in the segment. What does not fit there, or has blobs to be written before it, is
// put together in the thread's scratch memory and copied when its size is known.
//
// Nothing is measured first and written later: a program that changes its arguments in another
// thread meanwhile gets a strange record, not a torn one.
class call_writer {
 public:
  // Room for a record with a header of `header_bytes`; at least `least_bytes` behind it.
  bool begin(uint64_t header_bytes, uint64_t least_bytes, uint64_t now) {
    record_ = log_.reserve(header_bytes + least_bytes, now);
    if (record_ == nullptr) [[unlikely]]
      return false;
    at_ = record_ + header_bytes;
    end_ = log_.room(record_).data() + log_.room(record_).size();
    return true;
  }

  // The header of the record, where the bytes are now.
  std::byte* record() { return record_; }
  // Makes sure that the record is in the segment; its size. 0 where that is impossible.
  uint32_t finish() {
    if (spilled_) [[unlikely]]
      return finish_spilled();
    return static_cast<uint32_t>(at_ - record_);
  }

  bool is_spilled() const { return spilled_; }

  // There is no memory to go on with: nothing is left of the record, and recording stops.
  void give_up();

  // The place for the next `bytes`. Throws std::bad_alloc where there is no memory for it.
  std::byte* claim(uint64_t bytes) {
    if (bytes > static_cast<uint64_t>(end_ - at_)) [[unlikely]]
      grow(bytes);
    std::byte* place = at_;
    at_ += bytes;
    return place;
  }

  template <size_t Bytes, typename T>
  static void store(std::byte* place, const T& value) {
    static_assert(sizeof(T) == Bytes);
    std::memcpy(place, &value, Bytes);
  }

  void form(api::content_form f) { store<1>(claim(1), f); }

  // Numbers and handles, one after the other. Always inline: it is on the way of every append, and
  // out of line it costs a twelfth of what recording one costs.
  template <size_t Bytes, typename T>
  [[gnu::always_inline]] void elements(const T* first, uint64_t count) {
    static_assert(sizeof(T) == Bytes);
    if (!begin_elements(first, count)) return;
    std::byte* place = claim(count * Bytes);
    if (count <= 4) {
      for (uint64_t i = 0; i < count; ++i) store<Bytes>(place + i * Bytes, first[i]);
    } else {
      std::memcpy(place, first, count * Bytes);
    }
  }

  // The form and the count, for elements that the caller writes. False when there are too many, or
  // they are not there.
  template <typename T>
  [[gnu::always_inline]] bool begin_elements(const T* first, uint64_t count) {
    if (count > UINT32_MAX || !can_read(first, count, sizeof(T))) [[unlikely]] {
      form(api::content_form::nothing);
      return false;
    }
    std::byte* place = claim(5);
    store<1>(place, api::content_form::here);
    store<4>(place + 1, static_cast<uint32_t>(count));
    return true;
  }

  // Untyped memory.
  void bytes(const void* address, uint64_t count) {
    if (count >= least_blob_bytes) [[unlikely]]
      return blob(address, count);
    std::byte* place = claim(5 + count);
    store<1>(place, api::content_form::here);
    store<4>(place + 1, static_cast<uint32_t>(count));
    std::memcpy(place + 5, address, count);
  }

  void string(const char* text);

  // True if the chain may go on by one struct; each is followed by leave_chain().
  bool enter_chain() { return chain_length_ < api::max_chain_length && ++chain_length_ != 0; }
  void leave_chain() { --chain_length_; }
  void unknown_in_chain(uint32_t stype);

  // The length of a buffer that the driver fills: noted before the call, after it the shorter of
  // the two is what is valid.
  uint64_t valid_length(const void* buffer, uint64_t length);
  void driver_returned() { after_call_ = true; }
  bool is_after_call() const { return after_call_; }

  // Whose stypes a chain is made of.
  void set_chain_space(api::api_name space) { chain_space_ = space; }
  api::api_name chain_space() const { return chain_space_; }

  // For fields whose length a parameter of the call points at.
  void set_call_length(uint64_t length) { call_length_ = length; }
  uint64_t call_length() const { return call_length_; }

 protected:
  call_writer() : log_(this_thread_log) {}

  thread_log& log_;

 private:
  struct capacity {
    const void* buffer;
    uint64_t length;
  };

  void grow(uint64_t bytes);
  void spill(uint64_t more_bytes);
  void use_scratch(scratch_memory* memory, uint64_t used_bytes);
  scratch_memory::keeper* scratch_keeper();
  void leave_scratch();
  uint32_t finish_spilled();
  void blob(const void* address, uint64_t count);

  std::byte* record_ = nullptr;
  std::byte* at_ = nullptr;
  std::byte* end_ = nullptr;
  scratch_memory* scratch_;  // where the record is, if it is spilled
  bool spilled_ = false;
  bool after_call_ = false;
  api::api_name chain_space_ = api::api_name::ze;
  uint8_t capacity_count_ = 0;
  uint32_t chain_length_ = 0;
  uint64_t call_length_ = 0;
  std::array<capacity, 4> capacities_;  // as many as capacity_count_ says
};

}  // namespace zevent::recorder
