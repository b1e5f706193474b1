#include "driver/background_work.hpp"

#include <atomic>
#include <deque>
#include <mutex>
#include <utility>

#include "driver/engine_thread.hpp"
#include "driver/fork_safety.hpp"
#include "driver/made_with_driver.hpp"

namespace zevent::driver {
namespace {

class background_queue {
 public:
  static background_queue& instance();

  void add(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(work));
    if (!has_thread_) has_thread_ = start_engine_thread("zevent spare", [this] { work_off(); });
    if (!has_thread_) waiting_.clear();
  }

 private:
  void work_off() {
    for (;;) {
      std::function<void()> next;
      {
        const std::lock_guard lock(mutex_);
        if (waiting_.empty()) {
          has_thread_ = false;
          return;
        }
        next = std::move(waiting_.front());
        waiting_.pop_front();
      }
      next();
    }
  }

  std::mutex mutex_;  // guards all below
  std::deque<std::function<void()>> waiting_;
  bool has_thread_ = false;
};

// Left behind in the child of a fork, whose copy has a thread that is not there. Release/acquire:
// who sees the pointer sees the queue.
std::atomic<background_queue*> current_queue{nullptr};

bool queue_watches_forks() {
  static const bool is_watched = [] {
    run_in_child_of_fork([] { current_queue.store(nullptr, std::memory_order_release); });
    return true;
  }();
  return is_watched;
}

const made_with_driver queue_fork_watch([] { queue_watches_forks(); });

background_queue& background_queue::instance() {
  background_queue* queue = current_queue.load(std::memory_order_acquire);
  if (queue != nullptr) return *queue;
  auto* made = new background_queue;
  if (current_queue.compare_exchange_strong(queue, made, std::memory_order_acq_rel)) return *made;
  delete made;
  return *queue;
}

}  // namespace

void do_in_background(std::function<void()> work) {
  background_queue::instance().add(std::move(work));
}

}  // namespace zevent::driver
