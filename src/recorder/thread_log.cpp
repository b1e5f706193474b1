#include "recorder/thread_log.hpp"

#include <limits.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "base/checked_cast.hpp"
#include "recorder/process_recording.hpp"
#include "recorder/segment_packer.hpp"
#include "recorder/undisturbed.hpp"

namespace zevent::recorder {

using recording::blob_record;
using recording::calibration_record;
using recording::record_kind;
using recording::segment_header;
using recording::thread_record;

thread_local constinit thread_log this_thread_log;

recorded_thread::recorded_thread() = default;
recorded_thread::~recorded_thread() {
  scratch_memory::free(scratch.load(std::memory_order_relaxed));
}

namespace {

constexpr uint64_t segment_overhead_bytes = sizeof(segment_header) + sizeof(thread_record);

// A thread that ends may still make calls: in a signal handler, or in a destructor of what is the
// thread's own. It begins again then, and ends again in the next round of destructors. There are
// only so many rounds: whoever began after the last one would never give its segment back.
constexpr uint8_t most_ends = PTHREAD_DESTRUCTOR_ITERATIONS - 1;

// A segment with less room than this is not worth handing on.
constexpr uint64_t least_left_bytes = 4096;

// Larger blobs go into segments of their own.
constexpr uint64_t largest_blob_in_segment = segment_unit_bytes / 4;  // four fit, and some calls

}  // namespace

std::byte* thread_log::reserve_slowly(uint64_t bytes, uint64_t now) {
  // A signal handler is interrupting this thread in the middle of a record, or a fork is under way.
  if (limit_ != segment_end_ || is_paused_) return nullptr;
  while (can_have_room() && make_room(bytes, now)) {
    std::byte* record = begin_record();
    if (fits(bytes, segment_end_)) return record;
    // A handler that had waited for the segment to be packed took the room.
    limit_ = segment_end_;
  }
  return nullptr;
}

// Where nothing is recorded any more, a call is not to cost system calls.
bool thread_log::can_have_room() const {
  if (thread_ != nullptr) return !thread_->recording->part().stopped();
  return process_recording::may_record();
}

// A thread's log begins with its first record. One that is nobody's was begun, or could not be.
bool thread_log::begin() {
  if (thread_ != nullptr) return true;
  return this == &this_thread_log && ends_ < most_ends && begin_thread(*this);
}

bool thread_log::make_room(uint64_t bytes, uint64_t now) {
  const undisturbed all_the_while;
  try {
    if (!begin()) return false;
    if (now >= calibrate_at_ && this == &this_thread_log &&
        thread_->recording->take_calibration_turn(now, calibrate_at_))
      write_calibration();
    return fits(bytes, segment_end_) || next_segment(bytes);
  } catch (const std::bad_alloc&) {
    // Memory is the program's to run out of: it goes on without a recording.
    if (thread_ != nullptr) thread_->recording->part().stop("there is no memory left", ENOMEM);
    return false;
  }
}

bool thread_log::next_segment(uint64_t record_bytes) {
  part_file& part = thread_->recording->part();
  const uint64_t bytes = recording::align_record(record_bytes) + segment_overhead_bytes;
  if (open_calls_ == 0) retire(std::exchange(thread_->full_segments, {}));
  const bool is_usual = bytes <= segment_unit_bytes && thread_->segment.bytes == segment_unit_bytes;
  if (open_calls_ == 0 && is_usual) {
    if (!write_packed(thread_->segment)) return false;
    part.renew(thread_->segment);
    enter_segment(thread_->segment, 0);
    return true;
  }
  const auto next = part.take_segment(bytes);
  if (!next) return false;
  thread_->full_segments.push_back(thread_->segment);
  enter_segment(*next, 0);
  return true;
}

bool thread_log::write_packed(const mapped_segment& segment) {
  part_file& part = thread_->recording->part();
  if (part.stopped()) return false;
  if (thread_->packer == nullptr) thread_->packer.reset(new segment_packer);
  return part.write_block(thread_->area, thread_->packer->pack(segment));
}

// Segments to which nobody will write any more. One that cannot be packed stays where it is.
void thread_log::retire(std::span<const mapped_segment> full) {
  part_file& part = thread_->recording->part();
  for (mapped_segment segment : full) {
    if (segment.bytes == segment_unit_bytes) {
      if (!write_packed(segment)) return;
      part.renew(segment);
    }
    part.give_back(segment);
  }
}

void thread_log::enter_segment(const mapped_segment& segment, uint64_t used_bytes) {
  thread_->segment = segment;
  segment_end_ = segment.begin + segment.bytes;
  position_minus_address_ = segment.position - reinterpret_cast<uintptr_t>(segment.begin);
  if (used_bytes == 0) {
    auto* header = reinterpret_cast<segment_header*>(segment.begin);
    header->bytes = segment.bytes;
    header->position = segment.position;
    // release: a reader that sees the magic sees the size and the position.
    std::atomic_ref(header->magic).store(recording::segment_magic, std::memory_order_release);
    used_bytes = sizeof(segment_header);
  }
  cursor_ = segment.begin + used_bytes;
  thread_record owner = thread_->owner;
  owner.header.size = 0;
  std::memcpy(cursor_, &owner, sizeof(owner));
  publish(cursor_, sizeof(owner));
  ++thread_->owner.stretch;
}

bool thread_log::attach(recorded_thread& thread, const mapped_segment* left, uint64_t used_bytes) {
  if (left != nullptr) {
    thread_ = &thread;
    enter_segment(*left, used_bytes);
    return true;
  }
  const auto segment = thread.recording->part().take_segment();
  if (!segment) return false;
  thread_ = &thread;
  enter_segment(*segment, 0);
  return true;
}

std::optional<left_segment> thread_log::detach() {
  const mapped_segment segment = thread_->segment;
  const auto used_bytes = static_cast<uint64_t>(cursor_ - segment.begin);
  const bool is_worth_leaving = segment.bytes - used_bytes >= least_left_bytes;
  retire(std::exchange(thread_->full_segments, {}));
  if (!is_worth_leaving) retire({&segment, 1});
  thread_->recording->part().give_back(thread_->area);
  ++ends_;
  forget();
  if (!is_worth_leaving) return std::nullopt;
  return left_segment{segment, used_bytes};
}

void thread_log::pause() {
  fills_record_ = limit_ != segment_end_;
  is_paused_ = true;
  limit_ = cursor_;
}

void thread_log::resume() {
  is_paused_ = false;
  if (!fills_record_) limit_ = segment_end_;
}

void thread_log::forget() {
  segment_end_ = nullptr;
  // A record that is being filled in keeps out the calls of the handler that forked, until it is
  // published: nowhere, since there is no segment.
  if (!(is_paused_ && fills_record_)) cursor_ = limit_ = nullptr;
  is_paused_ = false;
  calibrate_at_ = 0;
  position_minus_address_ = 0;
  thread_ = nullptr;
}

void thread_log::cancel(std::byte* record, uint64_t touched_bytes) {
  std::memset(record, 0, touched_bytes);
  limit_ = segment_end_;
}

void thread_log::write_calibration() {
  if (thread_ == nullptr) return;  // there was no room to begin
  if (sizeof(calibration_record) > static_cast<uint64_t>(segment_end_ - cursor_) &&
      !next_segment(sizeof(calibration_record)))
    return;
  const auto point = calibrate_clock();
  auto* record = reinterpret_cast<calibration_record*>(cursor_);
  record->header.kind = record_kind::calibration;
  record->ticks = point.ticks;
  record->monotonic_raw_ns = point.monotonic_raw_ns;
  record->realtime_ns = point.realtime_ns;
  record->uncertainty_ticks = point.uncertainty_ticks;
  publish(cursor_, sizeof(calibration_record));
}

bool thread_log::write_blob(const recording::blob_hash& hash, std::span<const std::byte> content) {
  blob_record blob{{0, 0, record_kind::blob, 0}, hash};
  const uint64_t bytes = sizeof(blob) + content.size();
  if (bytes > largest_blob_in_segment) {
    const undisturbed all_the_while;
    if (!begin()) return false;
    thread_record owner{{sizeof(owner), 0, record_kind::thread, 0}};
    blob.header.size = checked_cast<uint32_t>(bytes);
    return thread_->recording->part().write_large_blob(owner, blob, content);
  }
  std::byte* record = reserve(bytes, 0);
  if (record == nullptr) return false;
  std::memcpy(record, &blob, sizeof(blob));
  if (!content.empty()) std::memcpy(record + sizeof(blob), content.data(), content.size());
  publish(record, static_cast<uint32_t>(bytes));
  return true;
}

}  // namespace zevent::recorder
