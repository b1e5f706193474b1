#include "driver/event_binding.hpp"

#include <utility>

namespace zevent::driver {

void event_binding::replace(state next) {
  state dropped;  // its counter is let go after the lock
  {
    const std::lock_guard lock(mutex_);
    dropped = std::exchange(state_, std::move(next));
    // Sequentially consistent: no field is seen before the odd version, none after the even one.
    version_.fetch_add(1, std::memory_order_seq_cst);
    value_.store(state_.point.value, std::memory_order_seq_cst);
    target_.store(state_.point.target, std::memory_order_seq_cst);
    run_of_.store(state_.moves ? state_.counter.get() : nullptr, std::memory_order_seq_cst);
    version_.fetch_add(1, std::memory_order_seq_cst);
  }
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
