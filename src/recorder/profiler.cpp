#include "recorder/profiler.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <map>
#include <mutex>
#include <string_view>

#include "recorder/handle_table.hpp"
#include "recorder/profile_clock.hpp"
#include "recorder/profile_driver.hpp"
#include "recorder/readable.hpp"
#include "recorder/timed_batch.hpp"
#include "recorder/timing_pool.hpp"

namespace zevent::recorder {

// What is known of a list. Objects are used for other lists later and never freed: whoever looks at
// one by mistake sees a list, if not the right one.
struct profiled_list {
  std::shared_ptr<timing_pool> pool;  // null: commands of the list are not timed
  std::shared_ptr<timed_batch> batch;
  timed_batch::kind what;
  bool is_closed = false;
  // Of a regular list: commands that are not timed, whenever the list is executed.
  std::atomic<uint64_t> untimed{0};
};

namespace {

struct known_event {
  ze_context_handle_t context = nullptr;
  ze_event_counter_based_flags_t counter_flags = 0;  // 0: a regular event
  bool takes_times = false;
  bool is_imported_counter = false;
  std::shared_ptr<timed_batch> signaller;  // of the last signal that was passed on
};

struct known_pool {
  ze_context_handle_t context = nullptr;
  ze_event_counter_based_flags_t counter_flags = 0;
  bool takes_times = false;
};

using batches = std::vector<std::shared_ptr<timed_batch>>;

// How long the end of the process, and the end of a context, wait for commands under way.
constexpr uint64_t exit_timeout_ns = 500'000'000;
constexpr uint64_t context_timeout_ns = 100'000'000;

// A queue that nobody waits for forgets what is over when it has so many.
constexpr size_t most_batches = 32;

constexpr auto counter_times =
    ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP | ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP;
constexpr auto pool_times =
    ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP;

uint64_t in_ns(uint64_t from_now_ns) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec) +
         from_now_ns;
}

// Raised whenever what a handle of a list means may have changed: what threads remember of the list
// that they used last is then looked up again. Starts above what a fresh thread remembers.
std::atomic<uint64_t> list_generation{1};

struct last_list {
  ze_command_list_handle_t handle = nullptr;
  uint64_t generation = 0;
  profiled_list* list = nullptr;
};
thread_local constinit last_list this_threads_list [[gnu::tls_model("initial-exec")]];

// Everything that the profiler knows. Never destroyed: programs call until the very end.
class profiler {
 public:
  static profiler& instance() {
    // acquire: what the profiler holds is seen.
    if (auto* made = present.load(std::memory_order_acquire); made != nullptr) [[likely]]
      return *made;
    static std::once_flag once;
    std::call_once(once, [] {
      pthread_atfork(nullptr, nullptr, &profiler::after_fork_in_child);
      // Registered after the driver was loaded, and so called before the driver's own destructors.
      next_driver_calls();
      std::atexit([] { instance().at_exit(); });
      present.store(new profiler(false), std::memory_order_release);
    });
    return *present.load(std::memory_order_acquire);
  }

  handle_table<ze_command_list_handle_t, profiled_list*> lists;
  handle_table<ze_event_handle_t, known_event> events;
  handle_table<ze_event_pool_handle_t, known_pool> pools;
  handle_table<ze_command_queue_handle_t, batches> queues;
  handle_table<ze_fence_handle_t, ze_command_queue_handle_t> fences;
  handle_table<ze_kernel_handle_t, bool> kernels;  // whether it is to be timed
  std::atomic<uint32_t> captures{0};               // lists that are recorded into graphs now

  // Null: not to be timed, or not known.
  profiled_list* find_list(ze_command_list_handle_t handle) {
    // acquire: pairs with whoever changed the meaning of a handle.
    const uint64_t now = list_generation.load(std::memory_order_acquire);
    last_list& last = this_threads_list;
    if (last.handle == handle && last.generation == now) [[likely]]
      return last.list;
    profiled_list* found = nullptr;
    const bool is_known = lists.with(handle, [&](profiled_list* each) { found = each; });
    if (!is_known && is_forked_) found = adopt_list(handle);
    last = {handle, now, found};
    return found;
  }

  profiled_list* add_list(ze_command_list_handle_t handle, ze_context_handle_t context,
                          ze_device_handle_t device, timed_batch::kind what, bool is_timed) {
    profiled_list* list = unused_list();
    list->what = what;
    list->is_closed = false;
    list->pool = is_timed ? pool_of(context, device) : nullptr;
    list->batch = nullptr;
    list->untimed.store(0, std::memory_order_relaxed);
    if (is_timed) begin_batch(*list);
    lists.set(handle, list);
    list_generation.fetch_add(1, std::memory_order_release);
    return list;
  }

  void begin_batch(profiled_list& list) {
    list.batch = std::make_shared<timed_batch>(list.pool, list.what);
    list.pool->add(list.batch);
  }

  // The handle means nothing from here on.
  profiled_list* take_list(ze_command_list_handle_t handle) {
    const auto taken = lists.take(handle);
    list_generation.fetch_add(1, std::memory_order_release);
    return taken.value_or(nullptr);
  }

  void give_back(profiled_list* list) {
    list->pool = nullptr;
    list->batch = nullptr;
    const std::lock_guard lock(mutex_);
    unused_lists_.push_back(list);
  }

  std::vector<std::shared_ptr<timing_pool>> take_pools(ze_context_handle_t context) {
    std::vector<std::shared_ptr<timing_pool>> taken;
    const std::lock_guard lock(mutex_);
    for (auto each = timing_pools_.begin(); each != timing_pools_.end();) {
      if (each->first.first == context) {
        taken.push_back(std::move(each->second));
        each = timing_pools_.erase(each);
      } else {
        ++each;
      }
    }
    return taken;
  }

  std::vector<std::shared_ptr<timing_pool>> pools_of(ze_device_handle_t device) {
    std::vector<std::shared_ptr<timing_pool>> found;
    const std::lock_guard lock(mutex_);
    for (const auto& [key, pool] : timing_pools_)
      if (device == nullptr || key.second == device) found.push_back(pool);
    return found;
  }

 private:
  explicit profiler(bool is_forked) : is_forked_(is_forked) {}

  // A list that was made before the fork. What a regular one holds is the parent's.
  profiled_list* adopt_list(ze_command_list_handle_t handle) {
    const auto& driver = next_driver_calls();
    ze_bool_t is_immediate = false;
    ze_context_handle_t context = nullptr;
    ze_device_handle_t device = nullptr;
    ze_command_queue_flags_t flags = 0;
    const auto good = [](ze_result_t result) { return result == ZE_RESULT_SUCCESS; };
    if (handle == nullptr || !good(driver.zeCommandListIsImmediate(handle, &is_immediate)))
      return nullptr;
    if (!is_immediate || !good(driver.zeCommandListGetContextHandle(handle, &context)) ||
        !good(driver.zeCommandListGetDeviceHandle(handle, &device)) ||
        !good(driver.zeCommandListImmediateGetFlags(handle, &flags))) {
      lists.set(handle, nullptr);
      return nullptr;
    }
    return add_list(handle, context, device,
                    {true, (flags & ZE_COMMAND_QUEUE_FLAG_IN_ORDER) != 0, 0}, true);
  }

  std::shared_ptr<timing_pool> pool_of(ze_context_handle_t context, ze_device_handle_t device) {
    profile_clock& clock = clock_of(device);
    const std::lock_guard lock(mutex_);
    auto& pool = timing_pools_[{context, device}];
    if (!pool) pool = std::make_shared<timing_pool>(context, device, clock);
    return pool;
  }

  profile_clock& clock_of(ze_device_handle_t device) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = clocks_.find(device); found != clocks_.end()) return *found->second;
    }
    const auto number = next_device_.fetch_add(1, std::memory_order_relaxed);
    auto made = std::make_unique<profile_clock>(device, number);
    made->compare_if_due(1);
    const std::lock_guard lock(mutex_);
    return *clocks_.try_emplace(device, std::move(made)).first->second;
  }

  profiled_list* unused_list() {
    const std::lock_guard lock(mutex_);
    if (unused_lists_.empty()) return new profiled_list;
    profiled_list* list = unused_lists_.back();
    unused_lists_.pop_back();
    return list;
  }

  void at_exit() {
    if (!profiles()) return;
    const uint64_t deadline_ns = in_ns(exit_timeout_ns);
    for (const auto& pool : pools_of(nullptr)) {
      for (const auto& batch : pool->batches()) batch->collect_until(deadline_ns);
      pool->clock().compare();
    }
  }

  // What the parent had under way is the parent's, and its locks may be held.
  static void after_fork_in_child() {
    if (present.load(std::memory_order_relaxed) == nullptr) return;
    present.store(new profiler(true), std::memory_order_release);
    list_generation.fetch_add(1, std::memory_order_release);
  }

  static std::atomic<profiler*> present;

  const bool is_forked_;  // there may be objects that this one was not told of
  std::mutex mutex_;      // guards all below; never held across a driver's call
  std::map<std::pair<ze_context_handle_t, ze_device_handle_t>, std::shared_ptr<timing_pool>>
      timing_pools_;
  std::map<ze_device_handle_t, std::unique_ptr<profile_clock>> clocks_;
  std::vector<profiled_list*> unused_lists_;
  std::atomic<uint16_t> next_device_{0};
};

constinit std::atomic<profiler*> profiler::present{nullptr};

profiler& the_profiler() {
  return profiler::instance();
}

const void* find_in_chain(const void* chain, ze_structure_type_t stype) {
  for (auto* each = static_cast<const ze_base_desc_t*>(chain); each != nullptr;
       each = static_cast<const ze_base_desc_t*>(each->pNext))
    if (each->stype == stype) return each;
  return nullptr;
}

bool has_flag(uint32_t flags, uint32_t flag, uint32_t anything) {
  return flags != anything && (flags & flag) != 0;
}

bool are_wanted(const launched_kernels& kernels) {
  if (profiled_kernels().empty()) return true;
  return std::any_of(kernels.all.begin(), kernels.all.end(), [](ze_kernel_handle_t each) {
    bool wanted = false;
    the_profiler().kernels.with(each, [&](bool is) { wanted = is; });
    return wanted;
  });
}

// Commands that a graph records run when, and as often as, the graph does.
bool is_captured(ze_command_list_handle_t list) {
  // relaxed: a thread that begins to capture sees its own change.
  if (the_profiler().captures.load(std::memory_order_relaxed) == 0) [[likely]]
    return false;
  const ze_result_t answer = next_driver_calls().zeCommandListIsGraphCaptureEnabledExt(list);
  return answer != ZE_RESULT_QUERY_FALSE;
}

// A command was appended that cannot be timed.
void note_untimed(ze_command_list_handle_t handle, profiled_list& list) {
  // What a graph records is counted once, however often the graph runs.
  if (list.what.immediate || is_captured(handle)) return count_untimed(1);
  // relaxed: who executes the list knows of the append already.
  list.untimed.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

void append_timing::begin(uint64_t call, uint64_t now_ticks, const launched_kernels& kernels) {
  if (call == 0) return;
  state_ = the_profiler().find_list(list_);
  if (state_ == nullptr || state_->is_closed) return;
  if (!are_wanted(kernels)) return;
  cannot_be_timed_ = !state_->batch || is_captured(list_) || (signal_ != nullptr && !choose_way());
  if (cannot_be_timed_) return;
  state_->pool->clock().compare_if_due(now_ticks);
  command_ = state_->batch->begin(call, now_ticks);
  cannot_be_timed_ = command_ == nullptr;
  if (cannot_be_timed_) return;
  programs_ = signal_;
  if (way_ != way::query) signal_ = command_->event;
  command_->is_waited_for = way_ == way::barrier;
  if (way_ == way::query) command_->room = state_->pool->take_room();
}

// False when the program's signal cannot be passed on: then the driver is to say what is wrong with
// it, if anything is, about the very call that the program made.
bool append_timing::choose_way() {
  const auto& what = state_->what;
  bool possible = false;
  the_profiler().events.with(signal_, [&](known_event& event) {
    if (event.counter_flags != 0) {
      constexpr uint32_t kinds =
          ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE | ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE;
      uint32_t allowed = event.counter_flags & kinds;
      if (allowed == 0) allowed = ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE;
      const uint32_t wanted = what.immediate ? ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE
                                             : ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE;
      if (!what.in_order || (allowed & wanted) == 0 || event.is_imported_counter) return;
    } else if (event.context != state_->pool->context()) {
      return;
    }
    possible = true;
    way_ = event.takes_times ? way::query : is_ordered() ? way::signal : way::barrier;
    if (event.signaller != state_->batch) event.signaller = state_->batch;
  });
  return possible;
}

bool append_timing::is_ordered() const {
  return state_->what.in_order || order_ == order::holds_back_all_behind;
}

ze_result_t append_timing::finish(ze_result_t result) {
  if (cannot_be_timed_) {
    if (result == ZE_RESULT_SUCCESS) note_untimed(list_, *state_);
    return result;
  }
  if (result != ZE_RESULT_SUCCESS || way_ == way::plain) [[likely]] {
    state_->batch->end(*command_, result == ZE_RESULT_SUCCESS);
    return result;
  }
  const auto& driver = next_driver_calls();
  switch (way_) {
    case way::plain:
      break;
    case way::signal:
      result = driver.zeCommandListAppendSignalEvent(list_, programs_);
      break;
    case way::barrier:
      result = driver.zeCommandListAppendBarrier(list_, programs_, 1, &command_->event);
      break;
    case way::query: {
      // Whether the event was signalled before nobody knows; only a barrier is sure to come after
      // the command.
      bool copied = command_->room != nullptr;
      if (copied && !is_ordered())
        copied = driver.zeCommandListAppendBarrier(list_, nullptr, 0, nullptr) == ZE_RESULT_SUCCESS;
      copied = copied && driver.zeCommandListAppendQueryKernelTimestamps(
                             list_, 1, &programs_, command_->room, nullptr, command_->event, 0,
                             nullptr) == ZE_RESULT_SUCCESS;
      if (!copied) note_untimed(list_, *state_);
      state_->batch->end(*command_, copied);
      return ZE_RESULT_SUCCESS;
    }
  }
  state_->batch->end(*command_, true);
  return result;
}

void execution_timing::begin(uint64_t call, uint64_t now_ticks) {
  if (call == 0 || !can_read(lists_, count_, sizeof(*lists_))) return;
  if (through_ != nullptr && is_captured(through_)) return;
  bool has_own = false;
  for (uint32_t i = 0; i < count_; ++i) {
    profiled_list* state = the_profiler().find_list(lists_[i]);
    if (state != nullptr) untimed_ += state->untimed.load(std::memory_order_relaxed);
    if (state == nullptr || !state->batch || state->what.immediate || !state->is_closed ||
        !state->batch->has_commands()) {
      own_lists_.push_back(lists_[i]);
      continue;
    }
    const auto& batch = state->batch;
    auto entry = std::find_if(executed_.begin(), executed_.end(),
                              [&](const executed& each) { return each.batch == batch; });
    const bool has_turn = entry != executed_.end();
    if (!has_turn) entry = executed_.insert(entry, {batch, 0});
    const auto next = batch->begin_execution(call, now_ticks, has_turn);
    if (next.is_possible) ++entry->runs;
    if (next.first != nullptr) {
      own_lists_.push_back(next.first);
      has_own = true;
    }
    own_lists_.push_back(lists_[i]);
    state->pool->clock().compare_if_due(now_ticks);
  }
  if (!has_own) return;
  lists_ = own_lists_.data();
  count_ = static_cast<uint32_t>(own_lists_.size());
}

void execution_timing::end(ze_result_t result) {
  const bool were_taken = result == ZE_RESULT_SUCCESS;
  for (const auto& each : executed_) each.batch->end_execution(each.runs, were_taken);
  if (!were_taken) return;
  if (untimed_ != 0) count_untimed(untimed_);
  if (executed_.empty()) return;
  if (queue_ != nullptr) {
    the_profiler().queues.with(queue_, [&](batches& known) {
      if (known.size() >= most_batches)
        std::erase_if(known, [](const auto& each) { return each->is_over(); });
      for (const auto& each : executed_)
        if (std::find(known.begin(), known.end(), each.batch) == known.end())
          known.push_back(each.batch);
    });
  } else if (auto* outer = the_profiler().find_list(through_); outer != nullptr && outer->batch) {
    for (const auto& each : executed_) outer->batch->add_inner(each.batch);
  }
}

namespace profile {

void list_created(ze_command_list_handle_t list, ze_context_handle_t context,
                  ze_device_handle_t device, const ze_command_list_desc_t* desc) {
  if (desc == nullptr) return;
  // The commands of these may be changed or copied behind our back.
  const bool changes =
      has_flag(desc->flags, ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE,
               ZE_COMMAND_LIST_FLAG_FORCE_UINT32) ||
      find_in_chain(desc->pNext, ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_DESC) != nullptr;
  const bool in_order =
      has_flag(desc->flags, ZE_COMMAND_LIST_FLAG_IN_ORDER, ZE_COMMAND_LIST_FLAG_FORCE_UINT32);
  the_profiler().add_list(list, context, device, {false, in_order, desc->commandQueueGroupOrdinal},
                          !changes);
}

void list_created(ze_command_list_handle_t list, ze_context_handle_t context,
                  ze_device_handle_t device, const ze_command_queue_desc_t* desc) {
  if (desc == nullptr) return;
  const bool in_order =
      has_flag(desc->flags, ZE_COMMAND_QUEUE_FLAG_IN_ORDER, ZE_COMMAND_QUEUE_FLAG_FORCE_UINT32);
  the_profiler().add_list(list, context, device, {true, in_order, desc->ordinal}, true);
}

void list_cloned(ze_command_list_handle_t list, ze_command_list_handle_t from) {
  profiled_list* source = the_profiler().find_list(from);
  if (source == nullptr) return;
  const uint64_t untimed = source->untimed.load(std::memory_order_relaxed);
  profiled_list* clone = the_profiler().add_list(list, nullptr, nullptr, source->what, false);
  clone->untimed.store(untimed, std::memory_order_relaxed);
  clone->is_closed = true;
}

void queue_created(ze_command_queue_handle_t queue) {
  the_profiler().queues.set(queue, {});
}

void fence_created(ze_fence_handle_t fence, ze_command_queue_handle_t queue) {
  the_profiler().fences.set(fence, queue);
}

void pool_created(ze_event_pool_handle_t pool, ze_context_handle_t context,
                  const ze_event_pool_desc_t* desc) {
  if (desc == nullptr) return;
  known_pool known{context, 0, (desc->flags & pool_times) != 0};
  if (const auto* counter = static_cast<const ze_event_pool_counter_based_exp_desc_t*>(
          find_in_chain(desc->pNext, ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC)))
    known.counter_flags = counter->flags | (counter->flags == 0 ? 1u : 0u);
  the_profiler().pools.set(pool, known);
}

void pool_opened(ze_event_pool_handle_t pool, ze_context_handle_t context) {
  ze_event_pool_flags_t flags = 0;
  next_driver_calls().zeEventPoolGetFlags(pool, &flags);
  the_profiler().pools.set(pool, {context, 0, (flags & pool_times) != 0});
}

void event_created(ze_event_handle_t event, ze_event_pool_handle_t pool) {
  known_event known;
  const bool found = the_profiler().pools.with(pool, [&](const known_pool& from) {
    known.context = from.context;
    known.counter_flags = from.counter_flags;
    known.takes_times = from.takes_times;
  });
  if (found) the_profiler().events.set(event, std::move(known));
}

void counter_event_created(ze_event_handle_t event, ze_context_handle_t context,
                           ze_event_counter_based_flags_t flags) {
  constexpr uint32_t kinds =
      ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE | ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE;
  known_event known;
  known.context = context;
  known.counter_flags = flags;
  if ((flags & kinds) == 0) known.counter_flags |= ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE;
  known.takes_times = (flags & counter_times) != 0;
  the_profiler().events.set(event, std::move(known));
}

void counter_event_opened(ze_event_handle_t event) {
  known_event known;
  known.counter_flags =
      ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE | ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE;
  known.is_imported_counter = true;
  the_profiler().events.set(event, std::move(known));
}

void kernel_created(ze_kernel_handle_t kernel, const char* name) {
  if (profiled_kernels().empty() || name == nullptr) return;
  the_profiler().kernels.set(kernel, matches_pattern(profiled_kernels(), name));
}

void is_destroyed(ze_command_list_handle_t list) {
  profiled_list* state = the_profiler().take_list(list);
  if (state == nullptr) return;
  if (state->batch) state->batch->retire(state->what.immediate ? list : nullptr);
  the_profiler().give_back(state);
}

void is_destroyed(ze_command_queue_handle_t queue) {
  complete(queue);
  the_profiler().queues.take(queue);
}

void is_destroyed(ze_fence_handle_t fence) {
  the_profiler().fences.take(fence);
}

void is_destroyed(ze_event_pool_handle_t pool) {
  the_profiler().pools.take(pool);
}

void is_destroyed(ze_event_handle_t event) {
  const auto known = the_profiler().events.take(event);
  if (known && known->signaller) known->signaller->collect();
}

void is_destroyed(ze_kernel_handle_t kernel) {
  if (!profiled_kernels().empty()) the_profiler().kernels.take(kernel);
}

void is_destroyed(ze_context_handle_t context) {
  for (const auto& pool : the_profiler().take_pools(context)) {
    const uint64_t deadline_ns = in_ns(context_timeout_ns);
    for (const auto& batch : pool->batches()) {
      batch->collect_until(deadline_ns);
      if (const uint64_t lost = batch->abandon(); lost != 0) count_untimed(lost);
    }
    pool->clock().compare();
    pool->destroy();
  }
}

void list_closes(ze_command_list_handle_t list) {
  profiled_list* state = the_profiler().find_list(list);
  if (state == nullptr || state->what.immediate || state->is_closed) return;
  if (state->batch) state->batch->before_close(list);
  state->is_closed = true;
}

void list_resets(ze_command_list_handle_t list) {
  profiled_list* state = the_profiler().find_list(list);
  if (state == nullptr || state->what.immediate) return;
  state->is_closed = false;
  state->untimed.store(0, std::memory_order_relaxed);
  if (!state->batch) return;
  state->batch->retire(nullptr);
  the_profiler().begin_batch(*state);
}

void list_captures(ze_command_list_handle_t) {
  the_profiler().captures.fetch_add(1, std::memory_order_relaxed);
}

void list_ends_capture(ze_command_list_handle_t) {
  the_profiler().captures.fetch_sub(1, std::memory_order_relaxed);
}

// The signal of the program stands as it is; one of ours behind it tells when.
void signal_appended(ze_command_list_handle_t list, ze_event_handle_t event, uint64_t call,
                     uint64_t now_ticks) {
  if (call == 0 || !profiled_kernels().empty()) return;
  profiled_list* state = the_profiler().find_list(list);
  if (state == nullptr || state->is_closed) return;
  if (!state->batch || is_captured(list)) return note_untimed(list, *state);
  timed_command* command = state->batch->begin(call, now_ticks);
  if (command == nullptr) return note_untimed(list, *state);
  const bool appended =
      next_driver_calls().zeCommandListAppendSignalEvent(list, command->event) == ZE_RESULT_SUCCESS;
  state->batch->end(*command, appended);
  the_profiler().events.with(event, [&](known_event& known) {
    if (known.signaller != state->batch) known.signaller = state->batch;
  });
}

uint64_t commands_before_wait(ze_command_list_handle_t list) {
  profiled_list* state = the_profiler().find_list(list);
  return state != nullptr && state->batch ? state->batch->appended() : 0;
}

void list_complete(ze_command_list_handle_t list, uint64_t commands_before) {
  profiled_list* state = the_profiler().find_list(list);
  if (state == nullptr || !state->batch) return;
  state->batch->all_complete_before(commands_before);
  state->batch->collect();
}

void complete(ze_event_handle_t event) {
  std::shared_ptr<timed_batch> signaller;
  the_profiler().events.with(event, [&](const known_event& known) { signaller = known.signaller; });
  if (signaller) signaller->collect();
}

void complete(ze_command_queue_handle_t queue) {
  batches known;
  the_profiler().queues.with(queue, [&](batches& all) { known.swap(all); });
  for (const auto& each : known) each->collect();
  std::erase_if(known, [](const auto& each) { return each->is_over(); });
  if (known.empty()) return;
  the_profiler().queues.with(queue, [&](batches& all) {
    for (auto& each : known)
      if (std::find(all.begin(), all.end(), each) == all.end()) all.push_back(std::move(each));
  });
}

void complete(ze_fence_handle_t fence) {
  ze_command_queue_handle_t queue = nullptr;
  the_profiler().fences.with(fence, [&](ze_command_queue_handle_t of) { queue = of; });
  if (queue != nullptr) complete(queue);
}

void complete(ze_device_handle_t device) {
  for (const auto& pool : the_profiler().pools_of(device))
    for (const auto& batch : pool->batches()) batch->collect();
}

}  // namespace profile
}  // namespace zevent::recorder
