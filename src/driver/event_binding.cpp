#include "driver/event_binding.hpp"

#include <utility>

namespace zevent::driver {

void event_binding::publish(const state& next) {
  // Sequentially consistent: no field is seen before the odd version, none after the even one.
  version_.fetch_add(1, std::memory_order_seq_cst);
  value_.store(next.point.value, std::memory_order_seq_cst);
  target_.store(next.point.target, std::memory_order_seq_cst);
  run_of_.store(next.moves ? next.counter.get() : nullptr, std::memory_order_seq_cst);
  version_.fetch_add(1, std::memory_order_seq_cst);
}

// In all of these, `dropped` lets go of its counter after the lock.
void event_binding::replace(state next) {
  state dropped;
  const std::lock_guard lock(mutex_);
  dropped = std::exchange(state_, std::move(next));
  publish(state_);
}

void event_binding::follow(state next) {
  state dropped;
  const std::lock_guard lock(mutex_);
  const bool is_relative = state_.counter && state_.counter->family() == next.counter->family();
  if (!is_relative) return;
  dropped = std::exchange(state_, std::move(next));
  publish(state_);
}

void event_binding::withdraw(const in_order_counter& counter, uint64_t number, bool has_run) {
  state dropped;
  const std::lock_guard lock(mutex_);
  const bool is_bound =
      state_.moves && state_.counter.get() == &counter && state_.point.target == number;
  if (!is_bound) return;
  if (has_run) {
    state_.point.target += counter.run_base.load(std::memory_order_acquire);
    state_.moves = false;
  } else {
    dropped = std::exchange(state_, state{});
  }
  publish(state_);
}

event_binding::state event_binding::current() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

bool event_binding::is_reached() const {
  for (;;) {
    const uint32_t before = version_.load(std::memory_order_acquire);
    const std::atomic<uint64_t>* value = value_.load(std::memory_order_acquire);
    uint64_t target = target_.load(std::memory_order_acquire);
    const in_order_counter* run_of = run_of_.load(std::memory_order_acquire);
    if (run_of != nullptr) target += run_of->run_base.load(std::memory_order_acquire);
    const bool reached = value == nullptr || value->load(std::memory_order_acquire) >= target;
    if ((before & 1) == 0 && version_.load(std::memory_order_acquire) == before) return reached;
  }
}

}  // namespace zevent::driver
