#include "driver/engine.hpp"

#include "base/futex.hpp"
#include "driver/device_clock.hpp"
#include "driver/engine_thread.hpp"
#include "driver/made_with_driver.hpp"
#include "driver/parking_lot.hpp"
#include "driver/stream.hpp"

namespace zevent::driver {
namespace {

constexpr uint64_t longest_hold_back_ns = 20'000'000;

}  // namespace

engine& engine::instance() {
  static auto* only = new engine;
  return *only;
}

const made_with_driver only_engine([] { engine::instance(); });

engine::engine() {
  run_in_child_of_fork([] { instance().forget_after_fork(); });
}

void engine::make_ready(stream& ready) {
  count_running(ready, 1);
  worker* called = nullptr;
  bool starts_worker = false;
  {
    const std::lock_guard lock(mutex_);
    if (idle_ != nullptr) {
      called = idle_;
      idle_ = called->next_idle;
      called->assigned = &ready;
    } else if (worker_count_ < most_workers) {
      ++worker_count_;
      starts_worker = true;
    } else {
      ready.next_ready_ = nullptr;
      (first_ready_ == nullptr ? first_ready_ : last_ready_->next_ready_) = &ready;
      last_ready_ = &ready;
      without_thread_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  if (called != nullptr) {
    // Release: `assigned` is seen by whoever sees the bell.
    const uint32_t before = called->doorbell.exchange(worker::called, std::memory_order_acq_rel);
    if (before == worker::asleep) futex_wake(called->doorbell, futex_scope::process, 1);
  } else if (starts_worker && !start_worker(ready)) {
    work_here(ready);
  }
}

void engine::count_running(const stream& each, int change) {
  if (each.priority() != ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH) return;
  const uint32_t before = urgent_.fetch_add(static_cast<uint32_t>(change));
  if (change < 0 && before == 1 && held_back_.load() != 0) {
    futex_wake(urgent_, futex_scope::process);
  }
}

void engine::let_urgent_pass() {
  if (urgent_.load() == 0) return;
  held_back_.fetch_add(1);
  const uint64_t deadline_ns = device_clock::host_now_ns() + longest_hold_back_ns;
  while (const uint32_t urgent = urgent_.load()) {
    const uint64_t now_ns = device_clock::host_now_ns();
    if (now_ns >= deadline_ns) break;
    futex_wait(urgent_, urgent, futex_scope::process, deadline_ns - now_ns);
  }
  held_back_.fetch_sub(1);
}

bool engine::start_worker(stream& first) {
  return start_engine_thread("zevent-engine", [this, &first] { work(&first); });
}

// The system gave no thread: whoever submitted does the work, rather than nobody.
void engine::work_here(stream& ready) {
  {
    const std::lock_guard lock(mutex_);
    --worker_count_;
  }
  ready.run();
}

void engine::work(stream* first) {
  worker self;
  for (stream* next = first;; next = next_for(self)) next->run();
}

stream* engine::next_for(worker& self) {
  {
    const std::lock_guard lock(mutex_);
    if (first_ready_ != nullptr) {
      stream* next = first_ready_;
      first_ready_ = next->next_ready_;
      without_thread_.fetch_sub(1, std::memory_order_relaxed);
      return next;
    }
    self.doorbell.store(worker::awake, std::memory_order_relaxed);
    self.next_idle = idle_;
    idle_ = &self;
  }
  uint32_t expected = worker::awake;
  self.doorbell.compare_exchange_strong(expected, worker::asleep, std::memory_order_acq_rel);
  while (self.doorbell.load(std::memory_order_acquire) != worker::called) {
    futex_wait(self.doorbell, worker::asleep, futex_scope::process);
  }
  return self.assigned;
}

// The child has none of the threads; they are started anew with its first submission.
void engine::forget_after_fork() {
  idle_ = nullptr;
  first_ready_ = nullptr;
  without_thread_ = 0;
  worker_count_ = 0;
  urgent_ = 0;
  held_back_ = 0;
}

}  // namespace zevent::driver
