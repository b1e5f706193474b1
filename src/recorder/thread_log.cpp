#include "recorder/thread_log.hpp"

#include <limits.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "api/model.hpp"
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

// Before a call the thread is looked at where that was not done for this long.
constexpr uint64_t usage_readings_per_second = 1000;
// Calls that take this long are slow, 50 us; waits that the program asked for, 1 ms.
constexpr uint64_t slow_calls_per_second = 20'000;
constexpr uint64_t slow_waits_per_slow_call = 20;
// Looking after slow calls may take one part in so many of the time, and 2 ms in a row. One look
// counts for 20 us at most: it may have been interrupted itself.
constexpr uint64_t share_of_usage_readings = 32;
constexpr uint64_t max_usage_credits_a_second = 500;
constexpr uint64_t max_usage_costs_a_second = 50'000;

// A wait that may block, by its timeout: the last of its inputs.
bool is_wait(const recording::call_record& call) {
  const auto functions = api::builtin_model().functions;
  if (call.header.detail >= functions.size()) return false;
  const std::string_view name = functions[call.header.detail].name;
  if (name.find("Synchronize") == name.npos) return false;
  uint64_t timeout = 0;
  if (call.header.size < sizeof(call) + sizeof(timeout)) return true;
  std::memcpy(&timeout,
              reinterpret_cast<const std::byte*>(&call) + call.header.size - sizeof(timeout),
              sizeof(timeout));
  return timeout != 0;
}

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
    const bool is_this_threads = this == &this_thread_log;
    const bool has_turn = is_this_threads && now >= next_turn_;
    if (has_turn && now >= calibrate_at_ &&
        thread_->recording->take_calibration_turn(now, calibrate_at_))
      write_calibration();
    const bool is_full = !fits(bytes, segment_end_);
    if (is_full && !next_segment(bytes)) return false;
    // Packing a segment may take long: that is not the call's.
    if (has_turn || (is_full && is_this_threads)) refresh_usage();
    return true;
  } catch (const std::bad_alloc&) {
    // Memory is the program's to run out of: it goes on without a recording.
    if (thread_ != nullptr) thread_->recording->part().stop("there is no memory left", ENOMEM);
    return false;
  }
}

void thread_log::set_next_turn() {
  next_turn_ =
      std::min(calibrate_at_, thread_->usage.ticks + thread_->recording->ticks_per_second() /
                                                         usage_readings_per_second);
}

// Earns the time that looking after slow calls may take.
void thread_log::look_at_thread() {
  const uint64_t before = std::exchange(thread_->usage, read_thread_usage()).ticks;
  const uint64_t max_credit = thread_->recording->ticks_per_second() / max_usage_credits_a_second;
  const uint64_t earned =
      before == 0 ? max_credit : (thread_->usage.ticks - before) / share_of_usage_readings;
  thread_->usage_credit = std::min(thread_->usage_credit + earned, max_credit);
}

void thread_log::refresh_usage() {
  if (thread_ == nullptr || ticks() < next_turn_) return;
  const undisturbed all_the_while;
  thread_->recording->others().refresh(ticks());
  look_at_thread();
  set_next_turn();
}

// A wait that the program asked for sleeps as a rule: only one that takes long is looked after.
bool thread_log::may_look_after(const recording::call_record& call, uint64_t duration) const {
  if (thread_ == nullptr || limit_ != segment_end_ || is_paused_ || this != &this_thread_log)
    return false;
  if (thread_->usage.ticks == 0 || thread_->usage_credit == 0) return false;
  return !is_wait(call) || duration >= slow_ticks_ * slow_waits_per_slow_call;
}

void thread_log::note_usage(const recording::call_record& call, uint64_t call_position,
                            uint64_t start, uint64_t duration) {
  if (!may_look_after(call, duration)) return;
  const undisturbed all_the_while;
  const thread_usage before = thread_->usage;
  const uint64_t returned = ticks();
  look_at_thread();
  const thread_usage& now = thread_->usage;
  // A call inside of this one, by a signal handler, was looked after: what was before it is lost.
  if (before.ticks <= start) {
    recording::usage_record usage{};
    usage.header.kind = record_kind::usage;
    usage.call = call_position;
    usage.from = before.ticks;
    usage.until = now.ticks;
    usage.processor_ns = now.processor_ns - before.processor_ns;
    if (before.has_run_delay && now.has_run_delay) {
      usage.header.flags |= recording::usage_has_run_delay;
      usage.run_delay_ns = now.run_delay_ns - before.run_delay_ns;
    }
    usage.minor_faults = now.minor_faults - before.minor_faults;
    usage.major_faults = now.major_faults - before.major_faults;
    usage.voluntary_switches = now.voluntary_switches - before.voluntary_switches;
    usage.involuntary_switches = now.involuntary_switches - before.involuntary_switches;
    if (duration >= slow_ticks_ * slow_waits_per_slow_call) {
      const auto load = read_machine_load();
      usage.runnable_tasks = load.runnable_tasks;
      usage.processors = load.processors;
    }
    // A thread that did not sleep did not wait for another.
    if (usage.voluntary_switches != 0 && !is_wait(call)) {
      if (const auto others = thread_->recording->others().read(now.ticks)) {
        usage.header.flags |= recording::usage_has_others;
        usage.others_from = others->since;
        usage.other_run_delay_ns = others->run_delay_ns;
        usage.other_processor_ns = others->processor_ns;
        usage.other_threads = others->threads;
      }
    }
    write_usage(usage);
  }
  const uint64_t max_cost = thread_->recording->ticks_per_second() / max_usage_costs_a_second;
  const uint64_t cost = std::min(ticks() - returned, max_cost);
  thread_->usage_credit -= std::min(thread_->usage_credit, cost);
  set_next_turn();
}

void thread_log::write_usage(const recording::usage_record& usage) {
  std::byte* record = reserve(sizeof(usage), 0);
  if (record == nullptr) return;
  std::memcpy(record, &usage, sizeof(usage));
  publish(record, sizeof(usage));
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
  slow_ticks_ =
      std::min(thread_->recording->ticks_per_second() / slow_calls_per_second, max_slow_ticks);
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
  next_turn_ = calibrate_at_ = 0;
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
