#pragma once

#include <atomic>
#include <cstdint>

#include "api/recording_format.hpp"
#include "api/result_code.hpp"
#include "recorder/call_writer.hpp"
#include "recorder/next_driver.hpp"
#include "recorder/process_recording.hpp"

namespace zevent::recorder {

// A call on its way through the recorder. A hook is, for every function alike:
//
//   open_call call;
//   if (call.begin(least bytes of the inputs)) try {
//     …write the inputs…
//     call.publish(index);
//   } catch (const std::bad_alloc&) {
//     call.lose();
//   }
//   …keep the memory that the call will read; call.restart() where that took a while…
//   const ze_result_t result = next driver's function(…);
//   …the outputs in the same way, with returned(), publish_outputs() and lose_outputs()…
//   call.complete();
//   return result;
//
// When nothing can be recorded every step but the driver's is skipped.
class open_call : public call_writer {
 public:
  open_call() : start_(ticks()) {}

  bool begin(uint64_t least_bytes) {
    constexpr uint64_t header_bytes = sizeof(recording::call_record);
    const bool is_quick = log_.is_quick(header_bytes + least_bytes, start_);
    if (!call_writer::begin(header_bytes, least_bytes, start_)) [[unlikely]] {
      count_lost_call();
      return false;
    }
    // The first call of all starts the recording: that takes a while, which is not the call's.
    if (!is_quick) [[unlikely]]
      start_ = ticks();
    return true;
  }

  // Memory ran out while the inputs were written.
  void lose() {
    give_up();
    count_lost_call();
  }

  void publish(uint16_t function) {
    const bool took_a_while = is_spilled();
    const uint32_t size = finish();
    if (size == 0) [[unlikely]]
      return count_lost_call();
    if (took_a_while) [[unlikely]] {
      log_.refresh_usage();
      start_ = ticks();
    }
    auto* call = reinterpret_cast<recording::call_record*>(record());
    call->header.detail = function;
    call->header.kind = recording::record_kind::call;
    call->header.flags = 0;
    call->start = start_;
    call->returned = 0;
    call_ = call;
    // As soon as it is published, a call of a signal handler may go on in another segment.
    position_ = log_.position_of(call);
    log_.call_begins();
    std::atomic_signal_fence(std::memory_order_seq_cst);
    log_.publish(record(), size);
  }

  // What the recorder did for this call since it was published took a while, which is not the
  // call's: it starts now.
  void restart() {
    if (call_ == nullptr) [[unlikely]]
      return;
    log_.refresh_usage();
    start_ = ticks();
    // relaxed: the record is published; a reader finds the one time or the other.
    std::atomic_ref(call_->start).store(start_, std::memory_order_relaxed);
  }

  // Takes the time. True if outputs are to be written: the result says that there are some.
  bool returned(uint32_t result, bool has_outputs) {
    duration_ = ticks() - start_;
    result_ = result;
    if (call_ == nullptr) [[unlikely]]
      return false;
    const bool puts_out = has_outputs && api::has_outputs(result);
    if (duration_ >= log_.slow_ticks()) [[unlikely]]
      look_after_slow_call(puts_out);
    return puts_out && begin_outputs();
  }

  // Likewise the outputs.
  void lose_outputs() {
    give_up();
    outputs_are_lost_ = true;
  }

  void publish_outputs() {
    const uint32_t size = finish();
    if (size == 0) [[unlikely]] {
      outputs_are_lost_ = true;
      return;
    }
    auto* completion = reinterpret_cast<recording::completion_record*>(record());
    completion->header.detail = 0;
    completion->header.kind = recording::record_kind::completion;
    completion->header.flags = 0;
    completion->call = position_;
    completion->end = start_ + duration_;
    log_.publish(record(), size);
  }

  void complete() {
    if (call_ == nullptr) [[unlikely]]
      return;
    if (outputs_are_lost_) [[unlikely]]
      count_lost_call();
    else
      // release: the completion is stored before.
      std::atomic_ref(call_->returned)
          .store(recording::returned_word(result_, duration_), std::memory_order_release);
    // Only then may a call of a signal handler pack the segment.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    log_.call_ends();
  }

  uint64_t start_ticks() const { return start_; }
  // What the program is told, where that is not what the driver returned.
  void change_result(uint32_t result) { result_ = result; }

  // Where in the file the call is; 0 when it is not recorded.
  uint64_t position() const { return call_ != nullptr ? position_ : 0; }

 private:
  bool begin_outputs() {
    driver_returned();
    if (call_writer::begin(sizeof(recording::completion_record), 0, start_ + duration_)) [[likely]]
      return true;
    outputs_are_lost_ = true;
    return false;
  }
  // One comparison decides that a call is slow, and thus that it may be too long for its word.
  [[gnu::noinline, gnu::cold]] void look_after_slow_call(bool puts_out) {
    static_assert(thread_log::max_slow_ticks < recording::duration_is_long);
    log_.note_usage(*call_, position_, start_, duration_);
    if (duration_ >= recording::duration_is_long - 1 && !puts_out) write_end();
  }
  void write_end() {
    if (begin_outputs()) publish_outputs();
  }

  uint64_t start_;         // ticks
  uint64_t duration_ = 0;  // ticks
  recording::call_record* call_ = nullptr;
  uint64_t position_ = 0;
  uint32_t result_ = 0;
  bool outputs_are_lost_ = false;
};

}  // namespace zevent::recorder
