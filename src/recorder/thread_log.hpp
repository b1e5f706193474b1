#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "api/recording_format.hpp"
#include "recorder/mapped_allocator.hpp"
#include "recorder/part_file.hpp"
#include "recorder/scratch_memory.hpp"
#include "recorder/thread_usage.hpp"
#include "recorder/tick_clock.hpp"

namespace zevent::recorder {

class process_recording;
class segment_packer;

// What a thread needs once a segment, not once a call.
struct recorded_thread : in_mapped_memory<recorded_thread> {
  recorded_thread();
  recorded_thread(const recorded_thread&) = delete;
  recorded_thread& operator=(const recorded_thread&) = delete;
  ~recorded_thread();

  process_recording* recording = nullptr;
  recording::thread_record owner{};  // stands at the head of the next segment
  mapped_segment segment;            // the one being written
  // Where records are put together that do not fit into the segment. Null while one is.
  scratch_memory::keeper scratch{nullptr};
  // Full ones that hold calls which have not returned.
  mapped_vector<mapped_segment> full_segments;
  std::unique_ptr<segment_packer> packer;  // made when the first segment is full
  packed_area area;
  thread_usage usage;         // as it was when the thread was last looked at
  uint64_t usage_credit = 0;  // ticks that looking after slow calls may take
};

// A segment that a thread left, for another to go on with.
struct left_segment {
  mapped_segment segment;
  uint64_t used_bytes = 0;
};

// What one thread writes: its place in its segment, and the records it puts there.
//
// The hot path is: reserve, fill in, publish; call the driver; complete. It touches this object and
// the segment and nothing else. While a record is being filled in there is no room: a call that a
// signal handler makes at that very moment cannot tear the record, it goes unrecorded and counts as
// lost. While a segment is packed no handler runs.
//
// The object is thread-local in the static block of the thread (no function call to find it) and
// has neither constructor nor destructor to run.
class thread_log {
 public:
  constexpr thread_log() = default;
  thread_log(const thread_log&) = delete;
  thread_log& operator=(const thread_log&) = delete;

  // Room for a record of `bytes`, or null where nothing can be recorded. `now` is the present time:
  // from time to time the clock is calibrated and the thread is looked at here.
  std::byte* reserve(uint64_t bytes, uint64_t now) {
    if (!is_quick(bytes, now)) [[unlikely]]
      return reserve_slowly(bytes, now);
    std::byte* record = begin_record();
    // The call of a handler may have taken the room before it was this record's.
    if (!fits(bytes, segment_end_)) [[unlikely]] {
      limit_ = segment_end_;
      return reserve_slowly(bytes, now);
    }
    return record;
  }

  // Whether reserve() takes no longer than to compare two numbers.
  bool is_quick(uint64_t bytes, uint64_t now) const {
    return fits(bytes, limit_) && now < next_turn_;
  }

  // All the room behind a record that was reserved; at least what was asked for.
  std::span<std::byte> room(std::byte* record) const { return {record, segment_end_}; }

  // Makes the record visible: from here on it outlives the process.
  void publish(std::byte* record, uint32_t bytes) {
    // release: all of the record is stored before its size.
    std::atomic_ref(reinterpret_cast<recording::record_header*>(record)->size)
        .store(bytes, std::memory_order_release);
    cursor_ = record + recording::align_record(bytes);
    // A handler that runs in between finds the limit before the cursor: no room.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    limit_ = segment_end_;
  }

  // Gives the room back; the record is zeros again.
  void cancel(std::byte* record, uint64_t touched_bytes);

  // By which other records refer to one that is being filled in.
  uint64_t position_of(const void* record) const {
    return reinterpret_cast<uintptr_t>(record) + position_minus_address_;
  }

  // A call whose record is published and that has not returned keeps its segment in memory.
  void call_begins() { ++open_calls_; }
  void call_ends() { --open_calls_; }

  // Content for records to refer to. False when it could not be written.
  bool write_blob(const recording::blob_hash& hash, std::span<const std::byte> content);

  void write_calibration();

  static constexpr uint64_t max_slow_ticks = 1u << 30;
  // A call that takes as long as this is followed by note_usage().
  uint64_t slow_ticks() const { return slow_ticks_; }
  // Notes what the thread did during a slow call that has just returned.
  void note_usage(const recording::call_record& call, uint64_t call_position, uint64_t start,
                  uint64_t duration);
  // What the thread did until now is not the next call's, to a millisecond.
  void refresh_usage();

  // Begins a stretch: in the segment that another thread left, or in a new one. False when there is
  // no room for it.
  bool attach(recorded_thread& thread, const mapped_segment* left, uint64_t used_bytes);

  // Ends the thread's part in the recording. Gives the segment that it was writing, and how much of
  // it is in use; nothing, where that was given back.
  std::optional<left_segment> detach();

  bool attached() const { return thread_ != nullptr; }
  recorded_thread& thread() { return *thread_; }

  // Around a fork: nothing is recorded in between, since locks are held, and in the child the
  // segment is the parent's still. The program's own handlers around a fork may make calls.
  void pause();
  void resume();

  // After a fork the child's copy of the parent's log is worthless. Only calls that are under way
  // stay so, and a record that is being filled in: the child returns to them too.
  void forget();

 private:
  // Between the steps of publish() the limit may be before the cursor.
  bool fits(uint64_t bytes, const std::byte* limit) const {
    return static_cast<int64_t>(bytes) <= limit - cursor_;
  }
  std::byte* begin_record() {
    limit_ = cursor_;
    // A handler that runs on this thread from here on sees that there is no room.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return cursor_;
  }
  std::byte* reserve_slowly(uint64_t bytes, uint64_t now);
  bool can_have_room() const;
  bool begin();
  void set_next_turn();
  void look_at_thread();
  bool may_look_after(const recording::call_record& call, uint64_t duration) const;
  void write_usage(const recording::usage_record& usage);
  bool make_room(uint64_t bytes, uint64_t now);
  bool next_segment(uint64_t record_bytes);
  bool write_packed(const mapped_segment& segment);
  void retire(std::span<const mapped_segment> full);
  void enter_segment(const mapped_segment& segment, uint64_t used_bytes);

  std::byte* cursor_ = nullptr;  // where the next record goes
  std::byte* limit_ = nullptr;   // segment_end_, or cursor_ while a record is filled in
  std::byte* segment_end_ = nullptr;
  uint64_t next_turn_ = 0;  // ticks: calibrate the clock or look at the thread then
  uint64_t slow_ticks_ = UINT64_MAX;
  uint64_t position_minus_address_ = 0;
  uint32_t open_calls_ = 0;
  uint8_t ends_ = 0;  // how often the thread has ended: see thread_log.cpp
  bool is_paused_ = false;
  bool fills_record_ = false;  // while it is paused: whether it was in the middle of one
  recorded_thread* thread_ = nullptr;
  uint64_t calibrate_at_ = 0;  // ticks
};

extern thread_local constinit thread_log this_thread_log [[gnu::tls_model("initial-exec")]];

}  // namespace zevent::recorder
