#include "driver/fork_safety.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "driver/made_with_driver.hpp"

namespace zevent::driver {
namespace {

struct guarded_mutex {
  fork_safe_mutex::rank order;
  std::mutex* mutex;
};

class fork_watch {
 public:
  static fork_watch& instance() {
    static auto* only = new fork_watch;
    return *only;
  }

  void add(fork_safe_mutex::rank order, std::mutex& mutex) {
    const std::lock_guard lock(mutex_);
    const auto place = std::upper_bound(
        mutexes_.begin(), mutexes_.end(), order,
        [](fork_safe_mutex::rank wanted, const guarded_mutex& m) { return wanted < m.order; });
    mutexes_.insert(place, {order, &mutex});
  }

  void add(void (*action)()) {
    const std::lock_guard lock(mutex_);
    actions_.push_back(action);
  }

  uint32_t generation() const { return generation_.load(std::memory_order_relaxed); }

 private:
  fork_watch() {
    pthread_atfork([] { instance().lock_all(); }, [] { instance().unlock_all(); },
                   [] { instance().start_child(); });
  }

  void lock_all() {
    mutex_.lock();
    for (const guarded_mutex& each : mutexes_) each.mutex->lock();
  }

  void unlock_all() {
    for (auto each = mutexes_.rbegin(); each != mutexes_.rend(); ++each) each->mutex->unlock();
    mutex_.unlock();
  }

  void start_child() {
    generation_.fetch_add(1, std::memory_order_relaxed);
    for (const auto action : actions_) action();
    unlock_all();
  }

  std::mutex mutex_;  // guards mutexes_ and actions_
  std::vector<guarded_mutex> mutexes_;
  std::vector<void (*)()> actions_;
  std::atomic<uint32_t> generation_{0};  // relaxed: changes only while there is one thread
};

const made_with_driver watch([] { fork_watch::instance(); });

}  // namespace

fork_safe_mutex::fork_safe_mutex(rank order) {
  fork_watch::instance().add(order, *this);
}

uint32_t fork_generation() {
  return fork_watch::instance().generation();
}

void run_in_child_of_fork(void (*action)()) {
  fork_watch::instance().add(action);
}

}  // namespace zevent::driver
