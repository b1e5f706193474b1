#include "driver/recording.hpp"

#include "base/checked_cast.hpp"
#include "base/invariant.hpp"
#include "driver/event.hpp"

namespace zevent::driver {

void recording::add(std::unique_ptr<command> work) {
  for (command_wait& wait : work->waits_) {
    if (!wait.moves) continue;
    wait.moving_index = checked_cast<uint32_t>(moving_waits_.size());
    moving_waits_.emplace_back(wait.counter.get(), wait.point.target);
  }
  if (work->signal_.act == command_signal::action::publish) {
    work->signal_.published_index = checked_cast<uint32_t>(published_.size());
    published_.push_back(work.get());
  }
  commands_.push_back(std::move(work));
}

recording::run recording::begin_run() {
  run next;
  const uint64_t runs_before = runs_.fetch_add(1, std::memory_order_acq_rel);
  next.moving_targets.reserve(moving_waits_.size());
  for (const auto& [counter, offset] : moving_waits_) {
    next.moving_targets.push_back(counter->run_base.load(std::memory_order_acquire) + offset);
  }
  if (counter_) {
    // Events are bound to the counter by their position in the list; moving its base re-arms them.
    next.counter_base = runs_before * commands_.size();
    counter_->run_base.store(next.counter_base, std::memory_order_release);
  }
  next.published.reserve(published_.size());
  for (command* each : published_) {
    const command_signal& signal = each->signal_;
    // The number of the first run was issued by the append.
    next.published.push_back(runs_before == 0 ? signal.value : signal.target->issue_number());
  }
  return next;
}

batch::batch(ref<recording> source) : source_(std::move(source)), run_(source_->begin_run()) {
  is_batch_ = true;
}

ze_result_t batch::run() {
  ZEVENT_UNREACHABLE("a batch is run command by command");
}

}  // namespace zevent::driver
