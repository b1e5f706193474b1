#include "driver/event.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "base/environment.hpp"
#include "driver/chaos.hpp"
#include "driver/device_clock.hpp"
#include "driver/fault_injection.hpp"
#include "driver/host_clock.hpp"
#include "driver/host_demand.hpp"
#include "driver/made_with_driver.hpp"
#include "driver/quirks.hpp"
#include "driver/stream.hpp"
#include "driver/sync_heap.hpp"

namespace zevent::driver {
namespace {

constexpr auto counter_timestamp_flags =
    ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP | ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP;

// The guide says that an opened event only waits and stands for the signal that was exported; the
// reference says that whoever opened it may signal it, and that it follows later signals (EV-65).
bool shares_both_ways() {
  static const bool both = read_environment("ZEVENT_IPC_EVENTS").value_or("two-way") != "one-way";
  return both;
}

const made_with_driver sharing([] { shares_both_ways(); });

const std::atomic<uint64_t>* as_atomic(const uint64_t* address) {
  static_assert(sizeof(std::atomic<uint64_t>) == sizeof(uint64_t));
  return reinterpret_cast<const std::atomic<uint64_t>*>(address);
}

wait_point point_in(shared_counter& counter, uint64_t number) {
  if (!shared_counter::is_signal(number)) return {};
  return wait_point::of(counter.place_of(number), number, futex_scope::shared);
}

// How long a query goes without looking whether another process lives.
constexpr uint64_t time_between_looks_ns = 50'000'000;

// Faults and quirks that are met by asking for the status of an event.
bool queries_misbehave(bool counter_based) {
  if (counter_based && has_quirk(quirk::counter_event_stays_complete)) return true;
  return has_fault(fault::query_slow) || has_fault(fault::query_blocks_behind_barrier) ||
         has_fault(fault::query_blocks_while_busy) || has_fault(fault::device_lost);
}

// Memory of destroyed events, for the fault handle-reuse.
struct recycled_memory {
  std::mutex mutex;  // guards all below
  std::vector<void*> free;
  uint64_t times_left = active_faults().number(fault::handle_reuse);

  static recycled_memory& instance() {
    static auto* only = new recycled_memory;
    return *only;
  }
};

const made_with_driver recycling([] { recycled_memory::instance(); });

}  // namespace

constinit const std::atomic<uint64_t> event::more_to_look_at{2};

void* event::operator new(size_t bytes) {
  if (fault_strikes_at(fault::event_create_fails)) throw std::bad_alloc();
  if (has_fault(fault::handle_reuse)) {
    recycled_memory& recycled = recycled_memory::instance();
    const std::lock_guard lock(recycled.mutex);
    if (!recycled.free.empty() && recycled.times_left > 0) {
      --recycled.times_left;
      void* memory = recycled.free.back();
      recycled.free.pop_back();
      return memory;
    }
  }
  return ::operator new(bytes);
}

void event::operator delete(void* memory) {
  if (!has_fault(fault::handle_reuse)) return ::operator delete(memory);
  recycled_memory& recycled = recycled_memory::instance();
  const std::lock_guard lock(recycled.mutex);
  recycled.free.push_back(memory);
}

event::event(event_pool& pool, uint32_t index, const ze_event_desc_t& desc)
    : context_(&pool.owner()),
      pool_(&pool),
      signal_scope_(desc.signal),
      wait_scope_(desc.wait),
      counter_based_(pool.counter_flags() != 0),
      counter_flags_(pool.counter_flags()),
      wants_times_((pool.flags() & (ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP |
                                    ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP)) != 0),
      mapped_times_(pool.has_flag(ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP)),
      queries_misbehave_(queries_misbehave(counter_based_)) {
  if (counter_based_) {
    times_ = &own_times_;
    return;
  }
  slot_ = &pool.slot(index);
  if (!queries_misbehave_ && !has_chaos() && !pool.is_imported()) queried_ = &slot_->cell.value;
  times_ = &slot_->times;
  // The state of an event of another process's pool is that process's.
  if (!pool.is_imported()) slot_->cell.value.store(0, std::memory_order_release);
}

event::event(context& owner, const counter_event_desc& desc)
    : context_(&owner),
      signal_scope_(desc.signal_scope),
      wait_scope_(desc.wait_scope),
      counter_based_(true),
      counter_flags_(desc.flags),
      wants_times_((desc.flags & counter_timestamp_flags) != 0),
      mapped_times_((desc.flags & ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP) != 0),
      queries_misbehave_(queries_misbehave(counter_based_)),
      desc_(desc),
      times_(&own_times_) {
  if (desc.where != counter_event_desc::storage::own) {
    binding_.replace({{as_atomic(desc.device_address), desc.completion_value}});
  }
}

ze_result_t event::create(context& owner, const counter_event_desc& desc, event** out) {
  auto made = ref<event>::adopt(new event(owner, desc));
  if ((desc.flags & ZE_EVENT_COUNTER_BASED_FLAG_IPC) != 0 &&
      desc.where == counter_event_desc::storage::own) {
    void* memory = sync_heap().allocate(sizeof(shared_counter), alignof(shared_counter));
    if (memory == nullptr) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    made->shared_ = new (memory) shared_counter(shared_counter::unused_name());
    made->shared_name_ = made->shared_->name();
  }
  made->add_reference();
  *out = made.get();
  return ZE_RESULT_SUCCESS;
}

ze_result_t event::open(context& owner, ipc_handle handle, event** out) {
  std::unique_ptr<ipc_import> opened;
  const ze_result_t result = ipc_import::open(handle, ipc_kind::counter_event, &opened);
  if (result != ZE_RESULT_SUCCESS) return result;
  if (handle.bytes != sizeof(shared_counter)) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  auto* const shared = static_cast<shared_counter*>(opened->address());
  const uint64_t name = shared_counter::name_of(handle.detail);
  if (name == 0 || shared->name() != name) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  counter_event_desc desc;
  const uint32_t flags = handle.kind >> ipc_flags_shift;
  desc.flags = flags & 0x7f;
  desc.signal_scope = flags >> 8 & 0x7;
  desc.wait_scope = flags >> 12 & 0x7;
  auto* made = new event(owner, desc);
  made->shared_ = shared;
  made->shared_name_ = name;
  made->imported_number_ = shared_counter::is_signal(handle.detail) ? handle.detail : 0;
  made->import_ = std::move(opened);
  *out = made;
  return ZE_RESULT_SUCCESS;
}

event::~event() {
  if (shared_ == nullptr || is_imported()) return;
  export_.withdraw();
  shared_->issued.store(0, std::memory_order_release);
  sync_heap().free(shared_, sizeof(shared_counter));
}

event::likeness event::kind_of_event() const {
  return {counter_based_, pool_ ? pool_->flags() : 0, counter_flags_, signal_scope_, wait_scope_};
}

bool event::is_hopeless() const {
  if (context_->is_lost()) return true;
  if (import_ != nullptr) {
    return import_->is_orphaned() || shared_->lost.is_set() || shared_->name() != shared_name_;
  }
  return pool_ && pool_->is_orphaned();
}

// External storage is what the event waits for until an append signals it.
bool event::waits_for_host_memory() const {
  return desc_.where == counter_event_desc::storage::external &&
         !signalled_.load(std::memory_order_acquire);
}

bool event::has_host_address() const {
  return !waits_for_host_memory() || desc_.host_address != nullptr;
}

wait_point event::host_memory_point() const {
  return {as_atomic(desc_.host_address), desc_.completion_value};
}

// What the event stands for now.
command_wait event::bind_wait() {
  command_wait wait;
  wait.source = ref<event>(this);
  if (slot_ != nullptr) {
    wait.point = wait_point::of(slot_->cell, 1, pool_->wake_scope());
  } else if (shared_ != nullptr) {
    wait.point = point_in(*shared_, shared_number());
  } else {
    event_binding::state state = binding_.current();
    wait.point = state.point;
    wait.counter = std::move(state.counter);
    wait.moves = state.moves;
  }
  return wait;
}

ze_result_t event::query_slowly() const noexcept {
  const ze_result_t now = status();
  if (has_chaos()) host_demand::instance().note_question(now == ZE_RESULT_NOT_READY, asked_for());
  return now;
}

const std::atomic<uint64_t>* event::asked_for() const noexcept {
  if (slot_ != nullptr) {
    return pool_->wake_scope() == futex_scope::process ? &slot_->cell.value : nullptr;
  }
  return shared_ != nullptr || waits_for_host_memory() ? nullptr : binding_.value();
}

ze_result_t event::status() const noexcept {
  if (queries_misbehave_) {
    suffer_query_faults();
    if (context_->is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    if (stays_complete()) return ZE_RESULT_SUCCESS;
  }
  ze_result_t now = ZE_RESULT_NOT_READY;
  if (slot_ == nullptr) {
    now = query_counter();
  } else if (slot_->cell.value.load(std::memory_order_acquire) != 0) {
    now = ZE_RESULT_SUCCESS;
  }
  if (queries_misbehave_ && now == ZE_RESULT_SUCCESS) note_completion_seen();
  return now == ZE_RESULT_NOT_READY && will_never_come() ? ZE_RESULT_ERROR_DEVICE_LOST : now;
}

// Whoever asks again and again, instead of waiting, is told as well. To look whether another
// process lives takes system calls: that is done now and then.
bool event::will_never_come() const noexcept {
  if (context_->is_lost()) return true;
  const bool is_of_another = import_ != nullptr || (pool_ && pool_->is_imported());
  if (!is_of_another) return false;
  const uint64_t now_ns = device_clock::host_now_ns();
  if (now_ns < next_look_ns_.load(std::memory_order_relaxed)) return false;
  if (is_hopeless()) return true;
  next_look_ns_.store(now_ns + time_between_looks_ns, std::memory_order_relaxed);
  return false;
}

void event::suffer_query_faults() const {
  if (wants_times_ && has_fault(fault::query_slow)) {
    host_clock::sleep_ns(active_faults().number(fault::query_slow) * 1000);
  }
  const bool behind_barrier = has_fault(fault::query_blocks_behind_barrier) &&
                              barrier_signals_.load(std::memory_order_relaxed);
  if (!behind_barrier && !has_fault(fault::query_blocks_while_busy)) return;
  for (const ref<stream>& each : stream::all()) {
    if (&each->owner() == context_.get()) each->synchronize(UINT64_MAX);
  }
}

void event::note_completion_seen() const noexcept {
  if (!counter_based_ || !has_quirk(quirk::counter_event_stays_complete)) return;
  if (shared_ == nullptr && signalled_.load(std::memory_order_acquire)) {
    completion_seen_.store(true, std::memory_order_release);
  }
}

ze_result_t event::query_counter() const noexcept {
  if (!has_host_address()) return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
  bool reached = false;
  if (waits_for_host_memory()) {
    reached = host_memory_point().is_reached();
  } else if (shared_ != nullptr) {
    reached = point_in(*shared_, shared_number()).is_reached();
  } else {
    reached = binding_.is_reached();
  }
  return reached ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

ze_result_t event::host_synchronize(uint64_t timeout_ns) {
  if (counter_based_ && !has_host_address()) return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
  if (timeout_ns == 0) return query();
  if (const ze_result_t now = status(); now != ZE_RESULT_NOT_READY) {
    if (has_chaos()) host_demand::instance().note_call();
    return now;
  }
  const ref<event> alive(this);
  command_wait wait = bind_wait();
  if (waits_for_host_memory()) wait.point = host_memory_point();
  if (wait.moves) {
    // A list that has not been executed has no run yet: 0 stands for its first one.
    wait.point.target += wait.counter->run_base.load(std::memory_order_acquire);
  }
  switch (host_wait(wait.point, timeout_ns, *this)) {
    case host_wait_result::reached:
      if (queries_misbehave_) note_completion_seen();
      return ZE_RESULT_SUCCESS;
    case host_wait_result::timed_out: {
      // Whether another process lives is asked of the system: not in a loop of tiny timeouts.
      constexpr uint64_t worth_asking_ns = 1'000'000;
      const bool lost = timeout_ns < worth_asking_ns ? context_->is_lost() : is_abandoned();
      return lost ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_NOT_READY;
    }
    case host_wait_result::abandoned:
      return ZE_RESULT_ERROR_DEVICE_LOST;
  }
  return ZE_RESULT_ERROR_UNKNOWN;
}

void event::enter_counter_mode() noexcept {
  if (slot_ == nullptr || pool_->has_flag(ZE_EVENT_POOL_FLAG_IPC)) return;
  // The event stands for the new command from now on, as a counter-based event does (EV-51).
  slot_->cell.value.store(0, std::memory_order_release);
  counter_mode_.store(counter_mode::bound, std::memory_order_relaxed);
}

ze_result_t event::host_signal() noexcept {
  if (counter_based_ || counter_mode_.load(std::memory_order_relaxed) != counter_mode::off)
    return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  if (wants_times_) {
    const uint64_t now_ns = device_clock::host_now_ns();
    set_timestamps(now_ns, now_ns);
  }
  if (has_chaos()) host_demand::instance().note_call();
  slot_->cell.raise(1, pool_->wake_scope());
  return ZE_RESULT_SUCCESS;
}

ze_result_t event::host_reset() noexcept {
  if (counter_based_) return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  if (has_chaos()) host_demand::instance().note_call();
  if (counter_mode_.load(std::memory_order_relaxed) != counter_mode::off) {
    // A counter-based event without a counter is complete (EV-50).
    counter_mode_.store(counter_mode::without_counter, std::memory_order_relaxed);
    slot_->cell.raise(1, pool_->wake_scope());
    return ZE_RESULT_SUCCESS;
  }
  reset();
  return ZE_RESULT_SUCCESS;
}

void event::reset() noexcept {
  counter_mode_.store(counter_mode::off, std::memory_order_relaxed);
  was_reset_.store(true, std::memory_order_relaxed);
  slot_->cell.value.store(0, std::memory_order_release);
}

ze_result_t event::check_signal(bool in_order, bool immediate) const {
  if (!counter_based_) return ZE_RESULT_SUCCESS;
  if (!in_order) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  constexpr auto kinds =
      ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE | ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE;
  uint32_t allowed = counter_flags_ & kinds;
  if (allowed == 0) allowed = ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE;
  const uint32_t wanted =
      immediate ? ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE : ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE;
  if ((allowed & wanted) == 0) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  if (imported_number_ != 0) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  if (shared_ != nullptr && shared_->name() != shared_name_) {
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  }
  return ZE_RESULT_SUCCESS;
}

command_signal event::begin_signal() {
  command_signal signal;
  signal.target = ref<event>(this);
  signalled_.store(true, std::memory_order_release);
  if (queries_misbehave_) completion_seen_.store(false, std::memory_order_release);
  if (slot_ != nullptr) {
    signal.act = command_signal::action::raise;
  } else if (shared_ != nullptr) {
    signal.act = command_signal::action::publish;
    signal.value = issue_number();
  } else if (desc_.where == counter_event_desc::storage::aggregate) {
    signal.act = command_signal::action::add;
    signal.value = desc_.increment;
  } else {
    signal.act = command_signal::action::counter;
  }
  return signal;
}

bool event::is_unsignalled_counter() const {
  if (!counter_based_ || desc_.where != counter_event_desc::storage::own) return false;
  return shared_ != nullptr ? !shared_counter::is_signal(shared_number())
                            : !signalled_.load(std::memory_order_acquire);
}

// The signal that the event stands for. An event whose producer destroyed it waits for nothing.
uint64_t event::shared_number() const noexcept {
  if (imported_number_ != 0) return imported_number_;
  const uint64_t issued = shared_->issued.load(std::memory_order_acquire);
  return shared_counter::name_of(issued) == shared_name_ ? issued : 0;
}

uint64_t event::issue_number() {
  return shared_->issued.fetch_add(1, std::memory_order_acq_rel) + 1;
}

void event::bind_signal(const ref<in_order_counter>& counter, uint64_t number, bool regular_list) {
  binding_.replace(
      {wait_point::of(counter->cell, number, futex_scope::process), counter, regular_list});
}

void event::follow_signal(const ref<in_order_counter>& counter, uint64_t number) {
  binding_.follow({wait_point::of(counter->cell, number, futex_scope::process), counter, true});
}

void event::withdraw_signal(const command_links& links, const in_order_counter* counter,
                            uint64_t runs) {
  const command_signal& signal = links.signal;
  if (signal.act == command_signal::action::counter) {
    binding_.withdraw(*counter, links.counted, runs > 0);
  } else if (signal.act == command_signal::action::publish && runs == signal.first_run) {
    complete_signal(signal.act, signal.value);  // no run will: nobody shall wait for it
  }
}

void event::complete_signal(command_signal::action act, uint64_t value) noexcept {
  switch (act) {
    case command_signal::action::none:
    case command_signal::action::counter:
      break;
    case command_signal::action::raise:
      slot_->cell.raise(1, pool_->wake_scope());
      break;
    case command_signal::action::publish:
      shared_->place_of(value).raise(value, futex_scope::shared);
      break;
    case command_signal::action::add: {
      std::atomic_ref<uint64_t> storage(*desc_.device_address);
      storage.fetch_add(value, std::memory_order_seq_cst);
      announce_memory_change();
      break;
    }
  }
}

void event::set_timestamps(uint64_t start_ns, uint64_t end_ns) noexcept {
  if (was_reset_.load(std::memory_order_relaxed) && has_fault(fault::timestamp_stale_after_reset)) {
    return;
  }
  times_->start_ns.store(start_ns, std::memory_order_relaxed);
  times_->end_ns.store(std::max(end_ns, start_ns + 1), std::memory_order_relaxed);
}

std::pair<uint64_t, uint64_t> event::timestamps_ns() const {
  return {times_->start_ns.load(std::memory_order_relaxed),
          times_->end_ns.load(std::memory_order_relaxed)};
}

ze_result_t event::device_address(uint64_t* completion_value, uint64_t* address) {
  if (!counter_based_) {
    if (wants_times_) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    *completion_value = 1;
    *address = reinterpret_cast<uint64_t>(&slot_->cell.value);
    return ZE_RESULT_SUCCESS;
  }
  const command_wait now = bind_wait();
  if (now.point.value == nullptr) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  *completion_value = now.point.target;
  if (now.moves) *completion_value += now.counter->run_base.load(std::memory_order_acquire);
  *address = reinterpret_cast<uint64_t>(now.point.value);
  return ZE_RESULT_SUCCESS;
}

ze_result_t event::export_handle(ipc_handle* out) {
  if (!counter_based_ || (counter_flags_ & ZE_EVENT_COUNTER_BASED_FLAG_IPC) == 0 || wants_times_ ||
      shared_ == nullptr || is_imported()) {
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  }
  uint64_t number = shared_name_ << shared_counter::name_shift;
  if (!shares_both_ways()) {
    number = shared_->issued.load(std::memory_order_acquire);
    if (!shared_counter::is_signal(number)) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  }
  const auto location = sync_heap().locate(shared_);
  if (!location) return ZE_RESULT_ERROR_UNKNOWN;
  return export_.make_handle(
      *location,
      {.kind = ipc_kind::counter_event,
       .flags = (counter_flags_ & 0x7f) | (signal_scope_ & 0x7) << 8 | (wait_scope_ & 0x7) << 12,
       .offset = location->offset,
       .bytes = sizeof(shared_counter),
       .detail = number,
       .owner = context_.get(),
       .lost = &shared_->lost},
      out);
}

}  // namespace zevent::driver
