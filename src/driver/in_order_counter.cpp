#include "driver/in_order_counter.hpp"

#include <utility>

#include "driver/fork_safety.hpp"
#include "driver/made_with_driver.hpp"

namespace zevent::driver {

// Counters that nobody uses at the moment.
class in_order_counter_store {
 public:
  static in_order_counter_store& instance() {
    static auto* store = new in_order_counter_store;
    return *store;
  }

  in_order_counter* take() {
    const std::lock_guard lock(mutex_);
    if (free_ == nullptr) return new in_order_counter;
    in_order_counter* counter = std::exchange(free_, free_->next_free_);
    counter->references_.store(1, std::memory_order_relaxed);
    // Values first went to 0 on the way in; waiters from an earlier life are woken for nothing.
    return counter;
  }

  void put(in_order_counter* counter) {
    const std::lock_guard lock(mutex_);
    counter->cell.value.store(0, std::memory_order_relaxed);
    counter->run_base.store(0, std::memory_order_relaxed);
    counter->family_.store(0, std::memory_order_relaxed);
    counter->next_free_ = std::exchange(free_, counter);
  }

 private:
  fork_safe_mutex mutex_{fork_safe_mutex::rank::counters};  // guards free_
  in_order_counter* free_ = nullptr;
};

const made_with_driver counters([] { in_order_counter_store::instance(); });

ref<in_order_counter> in_order_counter::create() {
  return ref<in_order_counter>::adopt(in_order_counter_store::instance().take());
}

void in_order_counter::join_family_of(in_order_counter& other) {
  static std::atomic<uint64_t> families{0};  // relaxed: only counted
  uint64_t theirs = other.family();
  if (theirs == 0) {
    const uint64_t founded = families.fetch_add(1, std::memory_order_relaxed) + 1;
    // Two threads may clone the same list: one of them founds the family.
    if (other.family_.compare_exchange_strong(theirs, founded, std::memory_order_relaxed)) {
      theirs = founded;
    }
  }
  family_.store(theirs, std::memory_order_relaxed);
}

void in_order_counter::recycle() {
  in_order_counter_store::instance().put(this);
}

}  // namespace zevent::driver
