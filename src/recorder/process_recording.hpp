#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "api/recording_format.hpp"
#include "recorder/part_file.hpp"
#include "recorder/thread_log.hpp"
#include "recorder/thread_usage.hpp"

namespace zevent::recorder {

// The recording that this process makes: its part, its threads, and what is known once.
//
// It starts with the first call that asks for room, so that a child that only forks to exec leaves
// nothing behind. It is never destroyed: programs call Level Zero from their last exit handlers.
class process_recording {
 public:
  // The present one; starts it if that has not been tried. Null when nothing is recorded.
  static process_recording* current();

  // False where it was tried, and nothing is recorded.
  static bool may_record();

  part_file& part() { return *part_; }
  recording::memory_mode memory_mode() const { return part_->header().memory; }

  // True for one thread each time that the clock should be calibrated. `next` is then, and also
  // otherwise, the time at which to ask again.
  bool take_calibration_turn(uint64_t now, uint64_t& next);
  uint64_t ticks_per_second() const { return ticks_per_second_; }
  other_threads& others() { return others_; }

  // Whether the content is in this part already. A blob is noted only after it is written: two
  // threads may write the same one, but none refers to a blob that is not there.
  bool has_blob(const recording::blob_hash& hash);
  void note_blob(const recording::blob_hash& hash);

  static void before_fork();
  static void after_fork_in_parent();
  static void after_fork_in_child();
  static void at_exit();

  // Records of no thread.
  void write_fact(std::string_view name, std::string_view value);
  // A number in the part that anybody may add to; null when there is no room for it.
  uint64_t* new_counter(std::string_view name);

  void count_lost_call() {
    // relaxed: a count that nothing depends on.
    std::atomic_ref(part_->header().lost_calls).fetch_add(1, std::memory_order_relaxed);
  }

 private:
  friend bool begin_thread(thread_log& log);
  struct blob_hash_value {
    size_t operator()(const recording::blob_hash& hash) const noexcept;
  };

  explicit process_recording(part_file& part);
  static process_recording* start();
  static void end_thread(void* thread);
  static void leave_recording_of_parent();
  void write_schema();
  bool begin(thread_log& log);
  void end(recorded_thread& thread);

  part_file* part_;
  std::atomic<uint64_t> next_calibration_;  // ticks; relaxed, a turn may come early or late
  uint64_t ticks_per_second_;
  other_threads others_;

  // Guards what follows; taken when a thread comes or goes, never for a call.
  std::mutex mutex_;
  uint32_t threads_ = 0;
  mapped_vector<left_segment> left_segments_;
  thread_log own_log_;
  recorded_thread own_thread_;

  std::mutex blobs_mutex_;  // guards blobs_
  std::unordered_set<recording::blob_hash, blob_hash_value> blobs_;
};

// Gives a thread that makes its first call a place to record to. False when nothing is recorded.
bool begin_thread(thread_log& log);

// Something to be known about this process, in this recording and in those of its forked children.
void note_process_fact(std::string_view name, std::string_view value);

// Counts a call that was made and could not be recorded, where there is a recording at all.
void count_lost_call();

}  // namespace zevent::recorder
