#include "recorder/timed_batch.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "recorder/process_recording.hpp"
#include "recorder/profile_driver.hpp"
#include "recorder/thread_log.hpp"

namespace zevent::recorder {
namespace {

using state = timed_command::state;

// How many events a list takes from the pool at a time, and how many unused ones it keeps.
constexpr size_t largest_take = 64;
constexpr size_t most_kept = 256;

// From this many commands on that are not collected a list that nobody waits for is looked at every
// so many appends.
constexpr size_t collect_from = 256;
constexpr size_t collect_every = 64;

constexpr size_t group_size = 64;

// How long the destruction of a list waits for what is known to come at once.
constexpr uint64_t proof_timeout_ns = 100'000'000;

// How long an execution waits for the one before it, where there is no other way.
constexpr uint64_t run_timeout_ns = 2'000'000'000;

uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

bool is_appended(const timed_command& command) {
  // acquire: what was set before is seen.
  return command.now.load(std::memory_order_acquire) == state::appended;
}

void pause_shortly() {
  const timespec shortly{0, 50'000};
  nanosleep(&shortly, nullptr);
}

}  // namespace

void count_untimed(uint64_t commands) {
  auto* recording = process_recording::current();
  if (recording == nullptr) return;
  static std::mutex mutex;                               // guards the two below
  static const process_recording* counts_for = nullptr;  // a forked child has another one
  static uint64_t* counter = nullptr;
  const std::lock_guard lock(mutex);
  if (counts_for != recording) counter = recording->new_counter("commands not timed");
  counts_for = recording;
  // relaxed: a count that nothing depends on.
  if (counter != nullptr) std::atomic_ref(*counter).fetch_add(commands, std::memory_order_relaxed);
}

// Whoever has the turn makes a few driver calls that do not block, and is soon done.
void timed_batch::take_turn() {
  while (!try_turn()) sched_yield();
}

bool timed_batch::has_commands() {
  const std::lock_guard lock(mutex_);
  return !commands_.empty();
}

bool timed_batch::is_over() {
  const std::lock_guard lock(mutex_);
  return runs_.empty();
}

uint64_t timed_batch::appended() {
  const std::lock_guard lock(mutex_);
  return popped_ + commands_.size();
}

timed_command* timed_batch::begin(uint64_t call, uint64_t now_ticks) {
  bool is_long = false;
  timed_command* command = nullptr;
  while (command == nullptr) {
    size_t wanted = 0;
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        command = &commands_.emplace_back();
        command->event = free_.back();
        free_.pop_back();
        is_long = what_.immediate && commands_.size() >= collect_from &&
                  commands_.size() % collect_every == 0;
      } else {
        wanted = next_take_;
        next_take_ = std::min(2 * next_take_, largest_take);
      }
    }
    if (wanted == 0) break;
    std::vector<ze_event_handle_t> taken;
    if (!pool_->take(wanted, taken) && !pool_->take(1, taken)) return nullptr;
    const std::lock_guard lock(mutex_);
    free_.insert(free_.end(), taken.begin(), taken.end());
  }
  command->call = call;
  command->submitted_ticks = now_ticks;
  if (is_long) [[unlikely]]
    collect();
  return command;
}

bool timed_batch::read_times(const timed_command& command,
                             ze_kernel_timestamp_result_t& times) const {
  const auto& driver = next_driver_calls();
  if (command.room == nullptr)
    return driver.zeEventQueryKernelTimestamp(command.event, &times) == ZE_RESULT_SUCCESS;
  if (driver.zeEventQueryStatus(command.event) != ZE_RESULT_SUCCESS) return false;
  times = *command.room;
  return true;
}

void timed_batch::write(const timed_command& command, const ze_kernel_timestamp_result_t& times,
                        uint64_t given_by, uint64_t submitted_ticks, uint64_t now_ticks) const {
  std::byte* place = this_thread_log.reserve(sizeof(recording::device_time_record), 0);
  if (place == nullptr) return count_untimed(1);
  auto* record = reinterpret_cast<recording::device_time_record*>(place);
  record->header.detail = pool_->clock().number();
  record->header.kind = recording::record_kind::device_time;
  record->header.flags = 0;
  record->call = command.call;
  record->execution = given_by;
  record->start = times.global.kernelStart;
  record->end = times.global.kernelEnd;
  record->submitted = submitted_ticks;
  record->collected = now_ticks;
  this_thread_log.publish(place, sizeof(*record));
}

void timed_batch::collect() {
  collect_inner();
  if (!try_turn()) return;
  collect_own();
  end_turn();
}

void timed_batch::collect_inner() {
  std::vector<std::shared_ptr<timed_batch>> inner;
  {
    const std::lock_guard lock(mutex_);
    inner.swap(inner_);
  }
  if (inner.empty()) return;
  for (const auto& each : inner) each->collect();
  std::erase_if(inner, [](const auto& each) { return each->is_over(); });
  for (auto& each : inner) add_inner(std::move(each));
}

void timed_batch::collect_own() {
  if (what_.immediate)
    collect_appended();
  else
    collect_runs();
  release_if_over();
}

uint64_t timed_batch::commands_in(timed_command::state wanted) const {
  uint64_t count = 0;
  for (size_t i = 0; i < commands_.size(); ++i)
    if (commands_[i].now.load(std::memory_order_acquire) == wanted) ++count;
  return count;
}

void timed_batch::collect_until(uint64_t deadline_ns) {
  while (true) {
    collect();
    {
      const std::lock_guard lock(mutex_);
      const bool all_collected =
          what_.immediate ? commands_in(state::appending) == 0 && commands_in(state::appended) == 0
                          : runs_.empty();
      if (all_collected) return;
    }
    if (now_ns() >= deadline_ns) return;
    pause_shortly();
  }
}

void timed_batch::collect_appended() {
  std::array<timed_command*, group_size> group;
  while (true) {
    size_t count = 0;
    {
      const std::lock_guard lock(mutex_);
      for (const size_t most = std::min(group_size, commands_.size()); count < most; ++count) {
        timed_command& each = commands_[count];
        if (each.now.load(std::memory_order_acquire) == state::appending) break;
        group[count] = &each;
      }
    }
    const size_t done = collect_group({group.data(), count});
    if (done == 0) return;
    std::vector<ze_event_handle_t> surplus;
    {
      const std::lock_guard lock(mutex_);
      for (size_t i = 0; i < done; ++i) {
        (free_.size() < most_kept ? free_ : surplus).push_back(commands_.front().event);
        commands_.pop_front();
      }
      popped_ += done;
    }
    if (!surplus.empty()) pool_->give_back(surplus);
    if (done < group_size) return;
  }
}

// Writes the times of those in front that are complete. How many of them are of no use any more,
// their events reset.
size_t timed_batch::collect_group(std::span<timed_command* const> group) {
  const uint64_t now_ticks = ticks();
  size_t complete = 0;  // the first that is not
  size_t proof = 0;     // one more than the last command that is known to have run
  for (; complete < group.size(); ++complete) {
    timed_command& each = *group[complete];
    const state now = each.now.load(std::memory_order_relaxed);
    if (now == state::refused) continue;
    if (now == state::appended) {
      ze_kernel_timestamp_result_t times;
      if (!read_times(each, times)) break;
      write(each, times, each.call, each.submitted_ticks, now_ticks);
      each.now.store(state::collected, std::memory_order_relaxed);
    }
    proof = complete + 1;
  }
  // What waits for an event holds back all commands behind it: it has passed when one of them ran.
  uint64_t known_complete = 0;
  {
    const std::lock_guard lock(mutex_);
    known_complete = known_complete_ > popped_ ? known_complete_ - popped_ : 0;
  }
  size_t done = 0;
  const auto& driver = next_driver_calls();
  for (; done < complete; ++done) {
    timed_command& each = *group[done];
    if (each.is_waited_for && done + 1 >= proof && done >= known_complete) break;
    if (each.now.load(std::memory_order_relaxed) == state::collected)
      driver.zeEventHostReset(each.event);
    if (each.room != nullptr) pool_->give_back_room(each.room);
  }
  return done;
}

void timed_batch::all_complete_before(uint64_t count) {
  const std::lock_guard lock(mutex_);
  known_complete_ = std::max(known_complete_, count);
}

void timed_batch::add_inner(std::shared_ptr<timed_batch> batch) {
  const std::lock_guard lock(mutex_);
  if (std::find(inner_.begin(), inner_.end(), batch) == inner_.end())
    inner_.push_back(std::move(batch));
}

// In a list that is not in-order the command that passes the last event on may still be waiting
// for it when the event is seen signalled. A signal behind it says that it has passed.
void timed_batch::before_close(ze_command_list_handle_t list) {
  {
    const std::lock_guard lock(mutex_);
    size_t last = commands_.size();
    while (last > 0 && !is_appended(commands_[last - 1])) --last;
    if (last == 0 || !commands_[last - 1].is_waited_for || last_ != nullptr) return;
  }
  std::vector<ze_event_handle_t> taken;
  if (!pool_->take(1, taken)) return;
  const bool appended =
      next_driver_calls().zeCommandListAppendSignalEvent(list, taken[0]) == ZE_RESULT_SUCCESS;
  if (!appended) return pool_->give_back(taken);
  const std::lock_guard lock(mutex_);
  last_ = taken[0];
}

timed_batch::execution timed_batch::begin_execution(uint64_t call, uint64_t now_ticks,
                                                    bool has_turn) {
  if (!has_turn) take_turn();
  collect_runs();
  execution next;
  {
    const std::lock_guard lock(mutex_);
    if (runs_.empty()) {
      run& only = runs_.emplace_back();
      only.call = call;
      only.submitted_ticks = now_ticks;
      return next;
    }
  }
  // The program gives the list to the device again before it is through with it.
  auto copy = make_copy();
  if (copy == nullptr && !wait_for_runs()) {
    next.is_possible = false;
    count_untimed(commands_.size());
    return next;
  }
  if (copy != nullptr) next.first = copy->list;
  const std::lock_guard lock(mutex_);
  if (!runs_.empty()) runs_.back().copy = std::move(copy);
  run& only = runs_.emplace_back();
  only.call = call;
  only.submitted_ticks = now_ticks;
  return next;
}

// Where times cannot be copied on the device, the next run has to wait for the last: what passes
// signals on must not find an event that is signalled already.
bool timed_batch::wait_for_runs() {
  for (const uint64_t deadline_ns = now_ns() + run_timeout_ns; now_ns() < deadline_ns;) {
    collect_runs();
    if (is_over()) return true;
    if (is_lost()) return false;
    pause_shortly();
  }
  return false;
}

// What the first run is not through with never comes: the device is lost.
bool timed_batch::is_lost() {
  ze_event_handle_t next = last_;
  {
    const std::lock_guard lock(mutex_);
    if (runs_.empty()) return false;
    const run& first = runs_.front();
    if (first.copy) {
      next = first.copy->done;
    } else if (first.next < commands_.size()) {
      next = commands_[first.next].event;
    }
  }
  return next != nullptr &&
         next_driver_calls().zeEventQueryStatus(next) == ZE_RESULT_ERROR_DEVICE_LOST;
}

void timed_batch::end_execution(size_t runs, bool were_taken) {
  if (!were_taken) {
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < runs; ++i) {
      if (runs_.back().copy) free_copies_.push_back(std::move(runs_.back().copy));
      runs_.pop_back();
    }
    if (runs > 0 && !runs_.empty() && runs_.back().copy)
      free_copies_.push_back(std::move(runs_.back().copy));
  }
  end_turn();
}

void timed_batch::collect_runs() {
  while (true) {
    run* first = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (runs_.empty()) return;
      first = &runs_.front();
    }
    if (!(first->copy ? collect_copy(*first) : collect_run(*first))) return;
    const std::lock_guard lock(mutex_);
    runs_.pop_front();
  }
}

// No command is appended while there are runs: commands_ does not change.
bool timed_batch::collect_run(run& each) {
  const uint64_t now_ticks = ticks();
  const auto& driver = next_driver_calls();
  for (; each.next < commands_.size(); ++each.next) {
    const timed_command& command = commands_[each.next];
    if (!is_appended(command)) continue;
    ze_kernel_timestamp_result_t times;
    if (!read_times(command, times)) return false;
    write(command, times, each.call, each.submitted_ticks, now_ticks);
  }
  if (last_ != nullptr && driver.zeEventQueryStatus(last_) != ZE_RESULT_SUCCESS) return false;
  for (size_t i = 0; i < commands_.size(); ++i) driver.zeEventHostReset(commands_[i].event);
  if (last_ != nullptr) driver.zeEventHostReset(last_);
  return true;
}

bool timed_batch::collect_copy(run& each) {
  const auto& driver = next_driver_calls();
  if (driver.zeEventQueryStatus(each.copy->done) != ZE_RESULT_SUCCESS) return false;
  const uint64_t now_ticks = ticks();
  for (; each.next < commands_.size(); ++each.next) {
    const timed_command& command = commands_[each.next];
    if (!is_appended(command)) continue;
    write(command, each.copy->times[each.next], each.call, each.submitted_ticks, now_ticks);
  }
  driver.zeEventHostReset(each.copy->done);
  const std::lock_guard lock(mutex_);
  free_copies_.push_back(std::move(each.copy));
  return true;
}

std::unique_ptr<timing_copy> timed_batch::make_copy() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_copies_.empty()) {
      auto copy = std::move(free_copies_.back());
      free_copies_.pop_back();
      return copy;
    }
  }
  auto copy = std::make_unique<timing_copy>();
  if (fill_copy(*copy)) return copy;
  destroy_copy(*copy);
  return nullptr;
}

bool timed_batch::fill_copy(timing_copy& copy) {
  const auto& driver = next_driver_calls();
  std::vector<ze_event_handle_t> taken;
  if (!pool_->take(1, taken)) return false;
  copy.done = taken[0];
  ze_command_list_desc_t list_desc{};
  list_desc.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC;
  list_desc.commandQueueGroupOrdinal = what_.ordinal;
  const ze_host_mem_alloc_desc_t memory_desc{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
  void* memory = nullptr;
  const auto fails = [](ze_result_t result) { return result != ZE_RESULT_SUCCESS; };
  if (fails(driver.zeMemAllocHost(pool_->context(), &memory_desc,
                                  commands_.size() * sizeof(ze_kernel_timestamp_result_t),
                                  alignof(ze_kernel_timestamp_result_t), &memory)))
    return false;
  copy.times = static_cast<ze_kernel_timestamp_result_t*>(memory);
  if (fails(driver.zeCommandListCreate(pool_->context(), pool_->device(), &list_desc, &copy.list)))
    return false;

  // Lists of a queue are started one after the other, but only a barrier waits for the one before.
  if (fails(driver.zeCommandListAppendBarrier(copy.list, nullptr, 0, nullptr))) return false;
  std::vector<ze_event_handle_t> events;
  std::vector<size_t> offsets;
  for (size_t i = 0; i < commands_.size(); ++i) {
    const timed_command& command = commands_[i];
    if (!is_appended(command)) continue;
    if (command.room == nullptr) {
      events.push_back(command.event);
      offsets.push_back(i * sizeof(ze_kernel_timestamp_result_t));
    } else if (fails(driver.zeCommandListAppendMemoryCopy(copy.list, copy.times + i, command.room,
                                                          sizeof(*command.room), nullptr, 0,
                                                          nullptr))) {
      return false;
    }
  }
  if (!events.empty() && fails(driver.zeCommandListAppendQueryKernelTimestamps(
                             copy.list, static_cast<uint32_t>(events.size()), events.data(),
                             copy.times, offsets.data(), nullptr, 0, nullptr)))
    return false;
  if (fails(driver.zeCommandListAppendBarrier(copy.list, nullptr, 0, nullptr))) return false;
  for (size_t i = 0; i < commands_.size(); ++i)
    if (fails(driver.zeCommandListAppendEventReset(copy.list, commands_[i].event))) return false;
  if (last_ != nullptr && fails(driver.zeCommandListAppendEventReset(copy.list, last_)))
    return false;
  return !fails(driver.zeCommandListAppendBarrier(copy.list, copy.done, 0, nullptr)) &&
         !fails(driver.zeCommandListClose(copy.list));
}

void timed_batch::destroy_copy(timing_copy& copy) {
  const auto& driver = next_driver_calls();
  if (copy.list != nullptr) driver.zeCommandListDestroy(copy.list);
  if (copy.times != nullptr) driver.zeMemFree(pool_->context(), copy.times);
  if (copy.done != nullptr) pool_->give_back({&copy.done, 1});
}

void timed_batch::retire(ze_command_list_handle_t list) {
  collect_inner();
  take_turn();
  collect_own();
  end_turn();
  bool needs_proof = false;
  {
    const std::lock_guard lock(mutex_);
    needs_proof = what_.immediate && list != nullptr && commands_.size() == 1 &&
                  commands_.front().now.load(std::memory_order_acquire) == state::collected;
  }
  if (needs_proof) {
    std::vector<ze_event_handle_t> taken;
    const auto& driver = next_driver_calls();
    if (pool_->take(1, taken)) {
      if (driver.zeCommandListAppendSignalEvent(list, taken[0]) == ZE_RESULT_SUCCESS) {
        if (driver.zeEventHostSynchronize(taken[0], proof_timeout_ns) == ZE_RESULT_SUCCESS) {
          all_complete_before(appended());
          driver.zeEventHostReset(taken[0]);
          pool_->give_back(taken);
        }
      } else {
        pool_->give_back(taken);
      }
    }
  }
  {
    const std::lock_guard lock(mutex_);
    retired_ = true;
  }
  take_turn();
  collect_own();
  end_turn();
}

// The last that is done of a batch whose list is gone: its events are free.
void timed_batch::release_if_over() {
  std::vector<ze_event_handle_t> events;
  std::vector<std::unique_ptr<timing_copy>> copies;
  {
    const std::lock_guard lock(mutex_);
    if (!retired_ || !runs_.empty() || (what_.immediate && !commands_.empty())) return;
    for (size_t i = 0; i < commands_.size(); ++i) {
      events.push_back(commands_[i].event);
      if (commands_[i].room != nullptr) pool_->give_back_room(commands_[i].room);
    }
    commands_.clear();
    events.insert(events.end(), free_.begin(), free_.end());
    free_.clear();
    if (last_ != nullptr) events.push_back(last_);
    last_ = nullptr;
    copies.swap(free_copies_);
  }
  for (auto& copy : copies) destroy_copy(*copy);
  pool_->give_back(events);
  pool_->remove(shared_from_this());
}

uint64_t timed_batch::abandon() {
  take_turn();
  uint64_t lost = 0;
  std::vector<std::unique_ptr<timing_copy>> copies;
  {
    const std::lock_guard lock(mutex_);
    const uint64_t open = commands_in(state::appended);
    if (what_.immediate) lost = open;
    for (auto& each : runs_) {
      lost += open - std::min<uint64_t>(open, each.next);
      if (each.copy) copies.push_back(std::move(each.copy));
    }
    for (auto& each : free_copies_) copies.push_back(std::move(each));
    commands_.clear();
    runs_.clear();
    free_copies_.clear();
    free_.clear();
    inner_.clear();
    last_ = nullptr;
    retired_ = true;
  }
  for (auto& copy : copies) destroy_copy(*copy);
  end_turn();
  return lost;
}

}  // namespace zevent::recorder
