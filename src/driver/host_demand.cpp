#include "driver/host_demand.hpp"

#include <unistd.h>

#include <algorithm>

#include "driver/made_with_driver.hpp"
#include "driver/parking_lot.hpp"

namespace zevent::driver {
namespace {

// The system is asked once for the number of a thread, and never by queries, which make no system
// calls: a thread that has done nothing else is number 0.
struct thread_number {
  pid_t thread = 0;
  uint32_t generation = 0;  // of the process, see fork_safety.hpp
};
constinit thread_local thread_number known_number;

pid_t known_thread() {
  return known_number.generation == fork_generation() ? known_number.thread : 0;
}

pid_t this_thread_id() {
  if (known_thread() == 0) known_number = {gettid(), fork_generation()};
  return known_number.thread;
}

}  // namespace

host_demand& host_demand::instance() {
  static auto* only = new host_demand;
  return *only;
}

const made_with_driver only_demand([] { host_demand::instance(); });

host_demand::host_demand() {
  run_in_child_of_fork([] { instance().forget_after_fork(); });
}

// The threads that waited are not in the child.
void host_demand::forget_after_fork() {
  first_ = nullptr;
  sleepers_ = 0;
}

std::atomic<uint32_t>& host_demand::calls_of(pid_t thread) {
  return calls_of_threads_[static_cast<size_t>(thread) % calls_of_threads_.size()];
}

bool host_demand::is_back(const waiter& who) const {
  const auto& calls = calls_of_threads_[static_cast<size_t>(who.thread) % calls_of_threads_.size()];
  return calls.load(std::memory_order_relaxed) != who.calls;
}

void host_demand::note_presence(pid_t thread) {
  last_caller_.store(thread, std::memory_order_relaxed);
  calls_.fetch_add(1, std::memory_order_relaxed);
}

void host_demand::note_call() {
  const pid_t self = known_thread();
  calls_of(self).fetch_add(1, std::memory_order_relaxed);
  note_presence(self);
}

void host_demand::note_submission() {
  this_thread_id();
  note_call();
}

void host_demand::note_question(bool in_vain, promised_values::address subject) {
  note_call();
  if (!in_vain) return;
  const uint64_t number = vain_questions_.fetch_add(1, std::memory_order_relaxed) + 1;
  last_vain_question_[promised_values::kind_of(subject)].store(number, std::memory_order_relaxed);
  announce_change();
}

host_demand::wait::wait(const wait_point& point) : point_(point), who_{this_thread_id(), 0, 0} {
  host_demand& demand = instance();
  demand.note_call();  // the thread is known by now
  who_.calls = demand.calls_of(who_.thread).load(std::memory_order_relaxed);
  {
    const std::lock_guard lock(demand.mutex_);
    who_.number = ++demand.waits_;
    after_ = demand.first_;
    if (after_ != nullptr) after_->before_ = this;
    demand.first_ = this;
  }
  demand.announce_change();
}

host_demand::wait::~wait() {
  host_demand& demand = instance();
  {
    const std::lock_guard lock(demand.mutex_);
    if (after_ != nullptr) after_->before_ = before_;
    (before_ != nullptr ? before_->after_ : demand.first_) = after_;
  }
  demand.note_presence(who_.thread);
}

bool host_demand::is_waited_for() {
  const std::lock_guard lock(mutex_);
  for (const wait* each = first_; each != nullptr; each = each->after_) {
    if (!each->point_.is_reached()) return true;
  }
  return false;
}

bool host_demand::is_waited_for(const promised_values& promised) {
  bool somebody_waits = false;
  {
    const std::lock_guard lock(mutex_);
    for (const wait* each = first_; each != nullptr; each = each->after_) {
      if (each->point_.is_reached()) continue;
      somebody_waits = true;
      const auto subject = promised_values::subject_of(each->point_);
      if (subject == nullptr || promised.contains(subject)) return true;
    }
  }
  return parking_lot::instance().has_parked([&](const wait_point& point) {
    const auto subject = promised_values::subject_of(point);
    return subject == nullptr ? somebody_waits : promised.contains(subject);
  });
}

uint64_t host_demand::last_vain_question(const promised_values& promised) const {
  // One is parked for what any other may bring about.
  const bool may_be_about_any = parking_lot::instance().has_parked(
      [](const wait_point& point) { return promised_values::subject_of(point) == nullptr; });
  if (may_be_about_any) return vain_questions();
  uint64_t last = 0;
  for (uint32_t kind = 0; kind < promised_values::kinds; ++kind) {
    if (!promised.has_kind(kind)) continue;
    last = std::max(last, last_vain_question_[kind].load(std::memory_order_relaxed));
  }
  return last;
}

std::vector<host_demand::waiter> host_demand::waiters() {
  const std::lock_guard lock(mutex_);
  std::vector<waiter> result;
  for (const wait* each = first_; each != nullptr; each = each->after_) {
    if (!each->point_.is_reached()) result.push_back(each->who_);
  }
  return result;
}

void host_demand::announce_change() {
  changes_.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) != 0) futex_wake(changes_, futex_scope::process);
}

void host_demand::sleep(uint32_t changes, uint64_t at_most_ns) {
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  futex_wait(changes_, changes, futex_scope::process, at_most_ns);
  sleepers_.fetch_sub(1, std::memory_order_seq_cst);
}

}  // namespace zevent::driver
