#include "recorder/memory_capture.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "recorder/blob_store.hpp"
#include "recorder/image_extent.hpp"
#include "recorder/plain_memory.hpp"
#include "recorder/process_recording.hpp"
#include "recorder/readable.hpp"
#include "recorder/thread_log.hpp"

namespace zevent::recorder {
namespace {

// Larger sources are kept in pieces: each is a blob of its own, and a blob stays small enough to be
// copied before it is hashed.
constexpr uint64_t source_piece_bytes = uint64_t{1} << 20;

// Snapshots are taken of the first piece of so many operands, at the end of so many waits.
constexpr size_t max_operands = 16;
constexpr unsigned max_waits = 4;

// Of plain memory whose extent nothing tells, so much is kept from the address on.
constexpr uint64_t unknown_extent_bytes = uint64_t{64} << 10;
// So many pieces of plain memory are remembered by what copies and fills told of them.
constexpr size_t max_plain_blocks = 4096;

// Memory is the program's to run out of: it goes on without a recording.
void stop_recording() {
  if (auto* recording = process_recording::current())
    recording->part().stop("there is no memory left", ENOMEM);
}

bool is_synchronous(const ze_command_queue_desc_t* desc) {
  return desc != nullptr && desc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
}

}  // namespace

std::atomic<memory_capture*> memory_capture::current_{nullptr};
constinit api::memory_copy_calls memory_capture::driver_calls_{};

memory_capture::memory_capture(recording::memory_mode mode) : mode_(mode), reader_(driver_calls_) {
  if (mode == recording::memory_mode::results)
    watched_.read_devices_by([this](uint64_t address, std::span<std::byte> target) {
      return read_device(address, target);
    });
}

// The lock, unless a signal handler makes a call in the middle of one that has it: that would wait
// for itself. What such a call does to memory is not noted.
class memory_capture::turn {
 public:
  explicit turn(std::mutex& mutex) : mutex_(mutex), is_mine_(!std::exchange(is_taken_, true)) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (is_mine_) mutex_.lock();
  }
  ~turn() {
    if (!is_mine_) return;
    mutex_.unlock();
    std::atomic_signal_fence(std::memory_order_seq_cst);
    is_taken_ = false;
  }
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;
  explicit operator bool() const { return is_mine_; }

 private:
  static thread_local constinit bool is_taken_ [[gnu::tls_model("initial-exec")]];
  std::mutex& mutex_;
  const bool is_mine_;
};

thread_local constinit bool memory_capture::turn::is_taken_ = false;

void memory_capture::allocated(const void* address, uint64_t bytes, allocation_kind kind,
                               ze_context_handle_t context, ze_device_handle_t device) {
  const auto range = range_of(address, bytes);
  const turn mine(mutex_);
  if (!mine) return;
  known_ranges_[range.begin] = range.end;
  if (mode_ < recording::memory_mode::full || kind == allocation_kind::reserved) return;
  if (kind != allocation_kind::device) {
    watched_.add(range.begin, bytes);
  } else if (mode_ == recording::memory_mode::results) {
    watched_.add_of_device(range.begin, bytes);
  } else {
    return;
  }
  if (kind != allocation_kind::host) owners_[range.begin] = {context, device};
  watches_anything_.store(true, std::memory_order_relaxed);
}

void memory_capture::exported(const void* address) {
  const turn mine(mutex_);
  if (mine) watched_.mark_shared(reinterpret_cast<uint64_t>(address));
}

void memory_capture::imported(const void* address) {
  const auto begin = reinterpret_cast<uint64_t>(address);
  const uint64_t bytes = std::max<uint64_t>(writable_from(begin, page_bytes).size(), 1);
  allocated(address, bytes, allocation_kind::reserved, nullptr, nullptr);
}

bool memory_capture::freed(const void* address) {
  const turn mine(mutex_);
  if (!mine) return false;
  if (const auto known = known_ranges_.find(reinterpret_cast<uint64_t>(address));
      known != known_ranges_.end()) {
    std::erase_if(operands_, [&](const copy_operand& each) {
      return each.range.begin >= known->first && each.range.begin < known->second;
    });
    known_ranges_.erase(known);
  }
  owners_.erase(reinterpret_cast<uint64_t>(address));
  watched_.remove(reinterpret_cast<uint64_t>(address));
  watches_anything_.store(!watched_.empty(), std::memory_order_relaxed);
  return true;
}

bool memory_capture::context_destroyed(ze_context_handle_t context) {
  const turn mine(mutex_);
  if (!mine) return false;
  reader_.release(context);
  device_in_use_.erase(context);
  return true;
}

void memory_capture::list_created(ze_command_list_handle_t list, ze_context_handle_t context,
                                  ze_device_handle_t device) {
  const turn mine(mutex_);
  if (!mine) return;
  lists_[list] = {};
  device_in_use_[context] = device;
}

void memory_capture::immediate_list_created(ze_command_list_handle_t list,
                                            ze_context_handle_t context, ze_device_handle_t device,
                                            const ze_command_queue_desc_t* desc) {
  const turn mine(mutex_);
  if (!mine) return;
  lists_[list] = {};
  lists_[list].is_immediate = true;
  device_in_use_[context] = device;
  if (is_synchronous(desc))
    synchronous_streams_.insert(list);
  else
    synchronous_streams_.erase(list);
}

void memory_capture::queue_created(ze_command_queue_handle_t queue,
                                   const ze_command_queue_desc_t* desc) {
  const turn mine(mutex_);
  if (!mine) return;
  if (is_synchronous(desc))
    synchronous_streams_.insert(queue);
  else
    synchronous_streams_.erase(queue);
}

void memory_capture::list_cloned(ze_command_list_handle_t list, ze_command_list_handle_t from) {
  const turn mine(mutex_);
  if (!mine) return;
  const auto source = lists_.find(from);
  list_state copied = source != lists_.end() ? source->second : list_state{};
  lists_[list] = std::move(copied);
}

bool memory_capture::list_reset(ze_command_list_handle_t list) {
  const turn mine(mutex_);
  if (!mine) return false;
  if (const auto found = lists_.find(list); found != lists_.end()) {
    found->second.plain_sources.clear();
    found->second.targets.clear();
    found->second.written.clear();
    found->second.writes_anywhere = false;
    found->second.of_kernels.clear();
    found->second.launches = false;
  }
  return false;
}

bool memory_capture::list_destroyed(ze_command_list_handle_t list) {
  const turn mine(mutex_);
  if (!mine) return false;
  lists_.erase(list);
  busy_streams_.erase(list);
  return false;
}

void memory_capture::image_created(ze_image_handle_t image, const ze_image_desc_t& desc) {
  const turn mine(mutex_);
  if (!mine) return;
  images_[image] = desc;
}

bool memory_capture::image_destroyed(ze_image_handle_t image) {
  const turn mine(mutex_);
  if (!mine) return false;
  images_.erase(image);
  return false;
}

bool memory_capture::is_plain(const address_range& range) const {
  auto next = known_ranges_.upper_bound(range.begin);
  if (next != known_ranges_.end() && next->first < range.end) return false;
  return next == known_ranges_.begin() || (--next)->second <= range.begin;
}

bool memory_capture::copy_appended(uint64_t call, ze_command_list_handle_t list, const void* target,
                                   const void* source, uint64_t bytes) {
  if (call == 0) return false;
  const turn mine(mutex_);
  if (!mine) return false;
  const auto state = lists_.find(list);
  const auto written = range_of(target, bytes);
  remember_plain(written);
  if (mode_ == recording::memory_mode::results && state != lists_.end() &&
      written.begin < written.end && (is_plain(written) || watched_.contains(written))) {
    if (state->second.is_immediate)
      target_submitted(call, written);
    else
      state->second.targets.push_back(written);
  }
  return source_appended(call, list, range_of(source, bytes));
}

bool memory_capture::region_copy_appended(uint64_t call, ze_command_list_handle_t list,
                                          const void* source, const ze_copy_region_t* region,
                                          uint32_t pitch, uint32_t slice_pitch) {
  if (call == 0 || !is_address(region)) return false;
  const uint64_t depth = std::max<uint32_t>(region->depth, 1);
  const uint64_t row = pitch != 0 ? pitch : region->width;
  const uint64_t slice = slice_pitch != 0 ? slice_pitch : row * region->height;
  const uint64_t first = region->originZ * slice + region->originY * row + region->originX;
  const uint64_t bytes = extent_of_rows(region->width, region->height, depth, row, slice);
  const turn mine(mutex_);
  if (!mine) return false;
  return source_appended(call, list,
                         range_of(static_cast<const std::byte*>(source) + first, bytes));
}

bool memory_capture::image_copy_appended(uint64_t call, ze_command_list_handle_t list,
                                         ze_image_handle_t image, const void* source,
                                         const ze_image_region_t* region, uint32_t pitch,
                                         uint32_t slice_pitch) {
  if (call == 0) return false;
  const turn mine(mutex_);
  if (!mine) return false;
  const auto found = images_.find(image);
  if (found == images_.end()) return false;
  const uint64_t bytes = extent_of_image_copy(found->second, region, pitch, slice_pitch);
  return source_appended(call, list, range_of(source, bytes));
}

bool memory_capture::source_appended(uint64_t call, ze_command_list_handle_t list,
                                     const address_range& source) {
  const auto state = lists_.find(list);
  if (state == lists_.end() || source.size() == 0 || source.end < source.begin) return false;
  const bool plain = is_plain(source);
  remember_plain(source);
  if (!state->second.is_immediate) {
    if (plain) state->second.plain_sources.push_back(source);
    return false;
  }
  if (plain) note_source(call, source);
  const bool looked = note_changes(call, 0);
  commands_under_way_.store(true, std::memory_order_relaxed);
  return plain || looked;
}

bool memory_capture::reading_command_appended(uint64_t call, ze_command_list_handle_t list) {
  if (call == 0 || !watches_anything_.load(std::memory_order_relaxed)) return false;
  const turn mine(mutex_);
  if (!mine) return false;
  const auto state = lists_.find(list);
  if (state == lists_.end() || !state->second.is_immediate) return false;
  note_changes(call, 0);
  commands_under_way_.store(true, std::memory_order_relaxed);
  return true;
}

void memory_capture::note_write(ze_command_list_handle_t list,
                                std::optional<address_range> target) try {
  const turn mine(mutex_);
  if (!mine) return;
  const auto state = lists_.find(list);
  if (state == lists_.end()) return;
  if (!state->second.is_immediate) {
    if (target)
      state->second.written.push_back(*target);
    else
      state->second.writes_anywhere = true;
    return;
  }
  busy_streams_.insert(list);
  if (target)
    watched_.mark_written(*target);
  else
    watched_.mark_all_written();
} catch (const std::bad_alloc&) {
  stop_recording();
}

bool memory_capture::launch_appended(uint64_t call, ze_command_list_handle_t list,
                                     std::span<const uint64_t> addresses) {
  if (mode_ < recording::memory_mode::full || call == 0)
    return reading_command_appended(call, list);
  const turn mine(mutex_);
  if (!mine) return false;
  const auto state = lists_.find(list);
  if (state == lists_.end()) return false;
  bool looked = false;
  for (const uint64_t address : addresses) {
    if (!is_plain({address, address + 1})) continue;
    const auto block = plain_block(address);
    looked = true;
    if (!block) continue;
    if (state->second.is_immediate)
      note_of_kernel(call, *block);
    else
      state->second.of_kernels.push_back(*block);
  }
  if (!state->second.is_immediate) {
    state->second.launches = true;
    return looked;
  }
  looked |= note_changes(call, 0);
  looked |= note_linked(call);
  commands_under_way_.store(true, std::memory_order_relaxed);
  return looked;
}

bool memory_capture::fill_appended(const void* target, uint64_t bytes) {
  if (mode_ < recording::memory_mode::full) return false;
  const turn mine(mutex_);
  if (mine) remember_plain(range_of(target, bytes));
  return false;
}

void memory_capture::remember_plain(const address_range& range) {
  if (mode_ < recording::memory_mode::full || range.end <= range.begin || !is_plain(range)) return;
  if (plain_blocks_.size() >= max_plain_blocks) plain_blocks_.clear();
  uint64_t& end = plain_blocks_[range.begin];
  end = std::max(end, range.end);
}

std::optional<address_range> memory_capture::known_plain_block(uint64_t address) const {
  if (!is_plain({address, address + 1})) return std::nullopt;
  if (const auto block = heap_block_at(address)) return block;
  if (auto next = plain_blocks_.upper_bound(address); next != plain_blocks_.begin())
    if (const auto& [begin, end] = *--next; address < end) return address_range{begin, end};
  return std::nullopt;
}

std::optional<address_range> memory_capture::plain_block(uint64_t address) const {
  if (const auto block = known_plain_block(address)) return block;
  const auto rest = writable_from(address, unknown_extent_bytes);
  return rest.size() != 0 ? std::optional(rest) : std::nullopt;
}

bool memory_capture::is_used_by_kernel(const address_range& range) const {
  return std::any_of(plain_in_use_.begin(), plain_in_use_.end(), [&](const address_range& each) {
    return each.begin < range.end && range.begin < each.end;
  });
}

void memory_capture::note_of_kernel(uint64_t call, const address_range& range) try {
  if (is_used_by_kernel(range)) return;
  plain_in_use_.push_back(range);
  kernels_use_plain_.store(true, std::memory_order_relaxed);
  note_pieces(call, range);
} catch (const std::bad_alloc&) {
  stop_recording();
}

// What a kernel can reach by addresses in memory that was kept.
bool memory_capture::note_linked(uint64_t call) try {
  if (linked_.empty()) return false;
  const uint64_t left_out =
      linked_.visit([this](uint64_t address) { return known_plain_block(address); },
                    [&](const address_range& block) { note_of_kernel(call, block); });
  if (left_out == 0) return true;
  if (left_out_ == nullptr)
    if (auto* recording = process_recording::current())
      left_out_ = recording->new_counter(addresses_not_followed_counter);
  // relaxed: a count that nothing depends on.
  if (left_out_ != nullptr)
    std::atomic_ref(*left_out_).fetch_add(left_out, std::memory_order_relaxed);
  return true;
} catch (const std::bad_alloc&) {
  stop_recording();
  return true;
}

void memory_capture::note_submission(uint64_t call, const void* stream) {
  {
    const turn mine(mutex_);
    if (!mine || !synchronous_streams_.contains(stream)) return;
  }
  waited(call, stream);
}

bool memory_capture::read_device(uint64_t address, std::span<std::byte> target) {
  auto owner = owners_.upper_bound(address);
  if (owner == owners_.begin()) return false;
  const auto [context, device] = (--owner)->second;
  if (device != nullptr) return reader_.read(context, device, address, target);
  // Shared memory of no device in particular.
  const auto in_use = device_in_use_.find(context);
  return in_use != device_in_use_.end() && reader_.read(context, in_use->second, address, target);
}

bool memory_capture::lists_executed(uint64_t call, std::span<const ze_command_list_handle_t> lists,
                                    const void* stream) {
  if (call == 0) return false;
  const turn mine(mutex_);
  if (!mine) return false;
  note_changes(call, 0);  // the host's, before these commands count as writers
  bool launches = false;
  for (const auto list : lists) {
    const auto state = lists_.find(list);
    if (state == lists_.end()) continue;
    for (const auto& source : state->second.plain_sources) note_source(call, source);
    for (const auto& target : state->second.targets) target_submitted(call, target);
    for (const auto& range : state->second.of_kernels) note_of_kernel(call, range);
    launches |= state->second.launches;
    if (mode_ != recording::memory_mode::results) continue;
    busy_streams_.insert(stream);
    for (const auto& each : state->second.written) watched_.mark_written(each);
    if (state->second.writes_anywhere) watched_.mark_all_written();
  }
  if (launches) note_linked(call);
  commands_under_way_.store(true, std::memory_order_relaxed);
  return true;
}

bool memory_capture::note_before_wait(uint64_t call) {
  if (call == 0) return false;
  const turn mine(mutex_);
  if (!mine) return false;
  copies_unasked_for_.store(false, std::memory_order_relaxed);
  for (const auto& each : operands_) note_snapshot(call, each, 0);
  return true;
}

bool memory_capture::note_before_signal(uint64_t call) {
  if (call == 0 || !watches_anything_.load(std::memory_order_relaxed)) return false;
  const turn mine(mutex_);
  return mine && note_changes(call, 0);
}

void memory_capture::waited(uint64_t call, const void* stream) {
  if (call != 0 && kernels_use_plain_.load(std::memory_order_relaxed)) {
    kernels_use_plain_.store(false, std::memory_order_relaxed);
    const turn mine(mutex_);
    if (mine) plain_in_use_.clear();
  }
  if (mode_ == recording::memory_mode::results) return note_results(call, stream);
  if (call == 0 || !watches_anything_.load(std::memory_order_relaxed)) return;
  if (!commands_under_way_.load(std::memory_order_relaxed)) return;
  const turn mine(mutex_);
  if (!mine) return;
  if (!watched_.set_aside()) note_changes(call, recording::memory_is_after_call);
  commands_under_way_.store(false, std::memory_order_relaxed);
}

// Commands that only write count here. The lock is held while the driver copies what only the
// device sees: memory is not freed meanwhile.
void memory_capture::note_results(uint64_t call, const void* stream) {
  if (call != 0) note_targets(call);
  const turn mine(mutex_);
  if (!mine) return;
  const bool was_idle =
      busy_streams_.empty() && !commands_under_way_.load(std::memory_order_relaxed);
  busy_streams_.erase(stream);
  if (call == 0 || !watches_anything_.load(std::memory_order_relaxed)) return;
  // Where there was nothing to wait for, the host wrote what changed.
  commands_under_way_.store(!was_idle, std::memory_order_relaxed);
  const uint8_t when = recording::memory_is_after_call;
  note_changes(call, was_idle ? uint8_t{0} : when, true);
  commands_under_way_.store(false, std::memory_order_relaxed);
}

void memory_capture::note_source(uint64_t call, const address_range& source) try {
  if (is_used_by_kernel(source)) return;  // which may be about to write it
  if (mode_ == recording::memory_mode::results) hold_operand(source, true);
  note_pieces(call, source);
} catch (const std::bad_alloc&) {
  stop_recording();
}

void memory_capture::note_pieces(uint64_t call, const address_range& range) {
  for (uint64_t at = range.begin; at < range.end; at += source_piece_bytes) {
    copy_.resize(std::min(source_piece_bytes, range.end - at));
    if (!copy_memory(reinterpret_cast<const void*>(at), copy_)) return;
    note(call, at, copy_, recording::memory_is_copy_source);
  }
}

void memory_capture::hold_operand(const address_range& range, bool is_source) {
  const uint64_t end = std::min(range.end, range.begin + source_piece_bytes);
  std::erase_if(operands_, [&](const copy_operand& each) {
    return each.range.begin == range.begin && each.is_source == is_source;
  });
  if (operands_.size() >= max_operands) operands_.erase(operands_.begin());
  operands_.push_back({{range.begin, end}, is_source, max_waits});
  copies_unasked_for_.store(true, std::memory_order_relaxed);
}

void memory_capture::target_submitted(uint64_t call, const address_range& target) try {
  hold_operand(target, false);
  note_snapshot(call, operands_.back(), 0);
} catch (const std::bad_alloc&) {
  stop_recording();
}

// What the copies left behind. A source is looked at until the first wait is over.
void memory_capture::note_targets(uint64_t call) {
  const turn mine(mutex_);
  if (!mine) return;
  std::erase_if(operands_, [&](copy_operand& each) {
    if (each.is_source) return true;
    note_snapshot(call, each, recording::memory_is_after_call);
    return --each.waits_left == 0;
  });
}

void memory_capture::note_snapshot(uint64_t call, const copy_operand& of, uint8_t flags) try {
  copy_.resize(of.range.size());
  if (!copy_memory(reinterpret_cast<const void*>(of.range.begin), copy_)) return;
  unsigned every = flags | recording::memory_is_snapshot;
  if (of.is_source) every |= recording::memory_is_copy_source;
  note(call, of.range.begin, copy_, static_cast<uint8_t>(every));
} catch (const std::bad_alloc&) {
  stop_recording();
}

bool memory_capture::note_changes(uint64_t call, uint8_t flags, bool with_results) try {
  if (watched_.empty()) return false;
  unsigned every = flags | recording::memory_is_dirty_pages;
  if (commands_under_way_.load(std::memory_order_relaxed))
    every |= recording::memory_may_be_devices;
  const auto note_piece = [&](uint64_t address, std::span<const std::byte> content,
                              watched_memory::change how) {
    constexpr unsigned set_aside = recording::memory_may_be_devices | recording::memory_before_wait;
    unsigned own = every;
    if (how == watched_memory::change::set_aside) own |= set_aside;
    if (how == watched_memory::change::copied) own |= recording::memory_is_copied;
    // Only where results are wanted are the targets of commands known.
    if (how == watched_memory::change::by_host && mode_ == recording::memory_mode::results)
      own &= ~unsigned{recording::memory_may_be_devices};
    note(call, address, content, static_cast<uint8_t>(own));
  };
  if (with_results)
    watched_.note_results(note_piece, busy_streams_.empty());
  else
    watched_.note_changes(note_piece);
  return true;
} catch (const std::bad_alloc&) {
  stop_recording();
  return true;
}

void memory_capture::note(uint64_t call, uint64_t address, std::span<const std::byte> content,
                          uint8_t flags) {
  thread_log& log = this_thread_log;
  const auto hash = keep_blob(log, content);
  if (!hash) return;
  std::byte* place = log.reserve(sizeof(recording::memory_record), 0);
  if (place == nullptr) return;
  auto* record = reinterpret_cast<recording::memory_record*>(place);
  record->header.kind = recording::record_kind::memory;
  record->header.flags = flags;
  record->call = call;
  record->address = address;
  record->bytes = content.size();
  record->content = *hash;
  log.publish(place, sizeof(*record));
  if (mode_ >= recording::memory_mode::full) linked_.scan(address, content);
}

}  // namespace zevent::recorder
