#include "driver/stream.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "driver/chaos.hpp"
#include "driver/chaos_completion.hpp"
#include "driver/engine.hpp"
#include "driver/event.hpp"
#include "driver/fault_injection.hpp"
#include "driver/fork_safety.hpp"
#include "driver/host_clock.hpp"
#include "driver/host_demand.hpp"
#include "driver/ipc.hpp"
#include "driver/made_with_driver.hpp"
#include "driver/promised_values.hpp"
#include "driver/recording.hpp"

namespace zevent::driver {
namespace {

struct stream_registry {
  fork_safe_mutex mutex{fork_safe_mutex::rank::inner};  // guards streams
  std::set<stream*> streams;

  static stream_registry& instance() {
    static auto* registry = new stream_registry;
    return *registry;
  }
};

const made_with_driver all_streams([] { stream_registry::instance(); });

// Held by whoever takes up a stream in the child of a fork.
fork_safe_mutex& starting_anew() {
  static auto* only = new fork_safe_mutex(fork_safe_mutex::rank::outer);
  return *only;
}

const made_with_driver guard_of_starting([] { starting_anew(); });

// A wait for a stream ends when its context is lost.
class context_loss final : public abandonment {
 public:
  explicit context_loss(const context& watched) : watched_(watched) {}
  bool is_abandoned() override { return watched_.is_lost(); }

 private:
  const context& watched_;
};

uint64_t next_stream_index() {
  static std::atomic<uint64_t> next{0};  // relaxed: only counted
  return next.fetch_add(1, std::memory_order_relaxed);
}

std::unique_ptr<completion_order> make_order(uint64_t stream_index) {
  if (has_chaos()) return std::make_unique<chaos_completion>(stream_index);
  return std::make_unique<sequential_completion>();
}

}  // namespace

ref<stream> stream::create(context& owner, device& target, bool in_order,
                           const ze_command_queue_desc_t& desc) {
  return ref<stream>::adopt(new stream(owner, target, in_order, desc));
}

stream::stream(context& owner, device& target, bool in_order, const ze_command_queue_desc_t& desc)
    : context_(&owner),
      target_(target),
      in_order_(in_order),
      priority_(desc.priority),
      index_(next_stream_index()),
      progress_(in_order_counter::create()),
      order_(make_order(index_)),
      siblings_(has_chaos() ? nullptr : &target.order_of(desc.ordinal, desc.index)),
      generation_(fork_generation()) {
  place_in_order_.who = this;
  stream_registry& registry = stream_registry::instance();
  const std::lock_guard lock(registry.mutex);
  registry.streams.insert(this);
}

stream::~stream() = default;

void stream::drop_reference() {
  uint32_t held = references_.load(std::memory_order_relaxed);
  while (held > 1) {
    if (references_.compare_exchange_weak(held, held - 1, std::memory_order_acq_rel)) return;
  }
  // The last one under the registry's lock, so that all() never takes up a stream on its way out.
  stream_registry& registry = stream_registry::instance();
  {
    const std::lock_guard lock(registry.mutex);
    if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    registry.streams.erase(this);
  }
  delete this;
}

std::vector<ref<stream>> stream::all() {
  stream_registry& registry = stream_registry::instance();
  const std::lock_guard lock(registry.mutex);
  std::vector<ref<stream>> result;
  result.reserve(registry.streams.size());
  for (stream* each : registry.streams) result.emplace_back(each);
  return result;
}

// In a child of fork(): what was under way belongs to threads of the parent. It is forgotten here,
// not deleted, since they may have been in the middle of it, and counts as done.
void stream::start_anew_after_fork() {
  const uint32_t now = fork_generation();
  if (generation_.load(std::memory_order_acquire) == now) [[likely]]
    return;
  const std::lock_guard lock(starting_anew());
  if (generation_.load(std::memory_order_acquire) == now) return;
  new (&mutex_) std::mutex;
  inbox_.forget();
  pending_.forget();
  new (&in_flight_) decltype(in_flight_);
  new (&open_batches_) decltype(open_batches_);
  is_idle_ = true;
  is_in_order_of_siblings_ = false;
  order_->rest();
  last_taken_ = submitted();
  progress_->cell.raise(last_taken_, futex_scope::process);
  generation_.store(now, std::memory_order_release);
}

uint64_t stream::submit(std::unique_ptr<command> work) {
  start_anew_after_fork();
  if (has_chaos()) host_demand::instance().note_submission();  // before the stream can hold it back
  uint64_t number = 0;
  bool was_idle = false;
  {
    const std::lock_guard lock(mutex_);
    number = submitted_.load(std::memory_order_relaxed) + 1;
    work->number_ = number;
    if (siblings_ != nullptr) work->turn_ = siblings_->next_turn();
    was_idle = std::exchange(is_idle_, false);
    if (was_idle) {
      enter_order(work->turn_);
      order_->wake();
    }
    inbox_.push(std::move(work));
    submitted_.store(number, std::memory_order_release);
  }
  if (was_idle) {
    add_reference();  // dropped by run() when the stream is idle again
    engine::instance().make_ready(*this);
  }
  if (has_hasty_chaos()) chaos_delay(chaos_purpose::delay_of_append, index_, number, 4, 100);
  return number;
}

ze_result_t stream::synchronize(uint64_t timeout_ns) {
  return synchronize(submitted(), timeout_ns);
}

ze_result_t stream::synchronize(uint64_t number, uint64_t timeout_ns) {
  start_anew_after_fork();
  context_loss check(*context_);
  const auto point = wait_point::of(progress_->cell, number, futex_scope::process);
  switch (host_wait(point, timeout_ns, check)) {
    case host_wait_result::reached:
      return ZE_RESULT_SUCCESS;
    case host_wait_result::timed_out:
      return context_->is_lost() ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_NOT_READY;
    case host_wait_result::abandoned:
      return ZE_RESULT_ERROR_DEVICE_LOST;
  }
  return ZE_RESULT_ERROR_UNKNOWN;
}

void stream::resume() {
  order_->wake();
  engine::instance().make_ready(*this);
}

void stream::abandon() {
  abandoned_.store(true, std::memory_order_release);
  context_->mark_lost();
  ipc_export::tell_losses();
}

void stream::lose_device() {
  context::mark_lost(target_);
  abandon();
}

void stream::enter_order(const submission_order::turn& first) {
  if (siblings_ == nullptr || is_in_order_of_siblings_) return;
  siblings_->enter(place_in_order_, first);
  is_in_order_of_siblings_ = true;
}

void stream::leave_order() {
  if (!is_in_order_of_siblings_) return;
  siblings_->leave(place_in_order_);
  is_in_order_of_siblings_ = false;
}

void stream::run() {
  order_->begin();
  may_execute_ = false;
  while (fetch()) {
    if (abandoned_.load(std::memory_order_acquire) || context_->is_lost()) {
      drop_everything();
      continue;
    }
    if (!may_execute_) hold_back();
    const blocked_on next = next_obstacle();
    const bool may_start = !pending_.is_empty() && next.what == obstacle::none;
    if (may_start && order_->starts_another(in_flight_.size())) {
      start_next();
    } else if (!in_flight_.empty()) {
      complete_one();
    } else if (may_start) {
      start_next();
    } else {
      engine::instance().count_running(*this, -1);
      leave_order();
      order_->rest();
      if (parking_lot::instance().park(*this, next.point, next.check)) {
        // From here on another thread may be running the stream.
        if (has_chaos()) host_demand::instance().note_parked();
        return;
      }
      order_->wake();
      engine::instance().count_running(*this, 1);
    }
  }
  engine::instance().count_running(*this, -1);
  drop_reference();
}

bool stream::fetch() {
  if (!pending_.is_empty()) return true;
  const std::lock_guard lock(mutex_);
  if (!inbox_.is_empty()) {
    pending_.take(inbox_);
  } else if (in_flight_.empty()) {
    is_idle_ = true;
    leave_order();
    order_->rest();
    return false;
  }
  return true;
}

stream::blocked_on stream::next_obstacle() const {
  if (pending_.is_empty()) return {};
  const command* head = pending_.front();
  const batch* group = head->is_batch_ ? static_cast<const batch*>(head) : nullptr;
  if (group != nullptr && group->source_->size() == 0) return {};
  const recorded_command* recorded =
      group != nullptr ? &group->source_->at(group->position_) : nullptr;
  const command& work = recorded != nullptr ? *recorded->work : *head;
  const std::vector<command_wait>& waits =
      recorded != nullptr ? recorded->links.waits : head->links_.waits;

  // In order within the list that is executed, and among what an in-order stream was given.
  const size_t siblings = group != nullptr ? group->in_flight_ : 0;
  if (in_order_ && in_flight_.size() > siblings) return {obstacle::in_flight};
  if (group != nullptr && group->source_->is_in_order() && siblings > 0) {
    return {obstacle::in_flight};
  }
  if (work.ordering_ == command::order::barrier && waits.empty() && !in_flight_.empty()) {
    return {obstacle::in_flight};
  }
  for (const command_wait& wait : waits) {
    wait_point point = wait.point;
    if (wait.moves) {
      point.target = group != nullptr
                         ? group->run_.moving_targets[wait.moving_index]
                         : wait.counter->run_base.load(std::memory_order_acquire) + point.target;
    }
    if (!point.is_reached()) return {obstacle::wait, point, wait.source.get()};
  }
  return {};
}

void stream::start_next() {
  command* head = pending_.front();
  if (siblings_ != nullptr) {
    enter_order(head->turn_);
    siblings_->take_turn(place_in_order_, head->turn_);
  }
  batch* group = head->is_batch_ ? static_cast<batch*>(head) : nullptr;
  if (group == nullptr) {
    last_taken_ = head->number_;
    in_flight_.push_back({head, &head->links_, pending_.pop(), nullptr});
  } else if (group->source_->size() > 0) {
    const recorded_command& next = group->source_->at(group->position_++);
    ++group->in_flight_;
    in_flight_.push_back({next.work.get(), &next.links, nullptr, group});
  }
  if (group != nullptr && group->position_ == group->source_->size()) {
    last_taken_ = group->number_;
    open_batches_.push_back(pending_.pop());
    if (group->in_flight_ == 0) retire(nullptr, group);
  }
  // A barrier has nothing to do but to be reached; what is done at its start is done here.
  if (!in_flight_.empty() && in_flight_.back().work->ordering_ != command::order::free) {
    complete_at(in_flight_.size() - 1);
  }
}

// What comes meanwhile may overtake what has been started. Nobody has to let a stream pass that is
// held back.
void stream::hold_back() {
  if (has_chaos()) {
    engine::instance().count_running(*this, -1);
    order_->hold_back(*this);
    engine::instance().count_running(*this, 1);
  }
  may_execute_ = true;
  fetch();
}

size_t stream::promise(promised_values& out) {
  size_t commands = 0;
  const auto add = [&](const command& work, const command_links& links) {
    ++commands;
    if (const auto* value = work.raised()) out.add(value);
    if (!links.signal.target) return;
    if (const auto* value = links.signal.target->raised()) out.add(value);
  };
  const auto add_all = [&](const command& work) {
    if (!work.is_batch_) return add(work, work.links_);
    const auto& group = static_cast<const batch&>(work);
    if (group.source_->counter()) out.add(&group.source_->counter()->cell.value);
    for (size_t i = group.position_; i < group.source_->size(); ++i) {
      add(*group.source_->at(i).work, group.source_->at(i).links);
    }
  };
  out.add(&progress_->cell.value);
  for (const started_command& each : in_flight_) add(*each.work, *each.links);
  for (const auto& each : open_batches_) add_all(*each);
  pending_.for_each(add_all);
  const std::lock_guard lock(mutex_);
  inbox_.for_each(add_all);
  return commands;
}

void stream::complete_one() {
  complete_at(order_->completes_next(in_flight_.size()));
}

void stream::complete_at(size_t position) {
  started_command chosen = std::move(in_flight_[position]);
  in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(position));
  execute(chosen);
  if (chosen.group != nullptr) --chosen.group->in_flight_;
  retire(std::move(chosen.alone), chosen.group);
}

void stream::execute(const started_command& started) {
  if (priority_ == ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW) engine::instance().let_urgent_pass();
  if (fault_strikes_after(fault::device_lost)) {
    lose_device();
    return;
  }
  const uint64_t execution = executions_++;
  may_execute_ = false;
  chaos_delay(chaos_purpose::delay_of_start, index_, execution, 8, 100);
  event* signalled = started.links->signal.target.get();
  const bool timed = signalled != nullptr && signalled->has_timestamps();
  const bool slowed = has_fault(fault::slow_engine);
  const uint64_t start_ns = timed || slowed ? device_clock::host_now_ns() : 0;
  if (started.work->run() != ZE_RESULT_SUCCESS) {
    lose_device();
    return;
  }
  if (slowed) {
    const uint64_t took_ns = device_clock::host_now_ns() - start_ns;
    host_clock::sleep_ns(took_ns * (active_faults().number(fault::slow_engine) - 1));
  }
  if (signalled == nullptr && started.links->counted == 0) return;
  if (timed) {
    // What a command takes jitters.
    chaos_delay(chaos_purpose::delay_of_end, index_, execution, 2, 50);
    signalled->set_timestamps(start_ns, device_clock::host_now_ns());
  }
  if (fault_strikes_after(fault::completion_lost)) {
    completions_lost_ = true;
    return;
  }
  chaos_delay(chaos_purpose::delay_of_signal, index_, execution, 4, 100);
  order_->before_signal();
  signal(started);
}

void stream::signal(const started_command& started) {
  const command_links& links = *started.links;
  const command_signal& signal = links.signal;
  const batch* group = started.group;
  uint64_t value = signal.value;
  if (group != nullptr && links.counted != 0) {
    const uint64_t counted = group->run_.counter_base + links.counted;
    group->source_->counter()->cell.raise(counted, futex_scope::process);
  }
  if (group != nullptr && signal.act == command_signal::action::publish) {
    value = group->run_.published[signal.published_index];
  }
  if (signal.target) signal.target->complete_signal(signal.act, value);
}

// The event is signalled before the progress is raised: whoever has synchronised with the list
// finds its events complete.
void stream::retire(std::unique_ptr<command> alone, batch* group) {
  if (abandoned_.load(std::memory_order_relaxed) || (completions_lost_ && in_order_)) return;
  if (group != nullptr) {
    if (group->in_flight_ > 0 || group->position_ < group->source_->size()) return;
    const auto found = std::find_if(open_batches_.begin(), open_batches_.end(),
                                    [&](const auto& each) { return each.get() == group; });
    alone = std::move(*found);
    open_batches_.erase(found);
  }
  raise_progress();
}

void stream::raise_progress() {
  uint64_t first_open = last_taken_ + 1;
  for (const started_command& each : in_flight_) {
    if (each.alone) first_open = std::min(first_open, each.work->number_);
  }
  for (const auto& each : open_batches_) first_open = std::min(first_open, each->number_);
  progress_->cell.raise(first_open - 1, futex_scope::process);
}

void stream::drop_everything() {
  in_flight_.clear();
  open_batches_.clear();
  pending_.clear();
}

}  // namespace zevent::driver
