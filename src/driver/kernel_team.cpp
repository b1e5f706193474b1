#include "driver/kernel_team.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

#include "driver/engine_thread.hpp"
#include "driver/fork_safety.hpp"
#include "driver/made_with_driver.hpp"

namespace zevent::driver {
namespace {

constexpr uint32_t most_processors = 64;

uint32_t processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return 1;
  return static_cast<uint32_t>(std::max(CPU_COUNT(&allowed), 1));
}

// Replaced in the child of a fork, whose copy has threads that are not there. Release/acquire: who
// sees the pointer sees the team.
std::atomic<kernel_team*> current_team{nullptr};

// Held by whoever makes a team: there is one a process.
fork_safe_mutex& making() {
  static auto* only = new fork_safe_mutex(fork_safe_mutex::rank::outer);
  return *only;
}

bool team_watches_forks() {
  static const bool is_watched = [] {
    run_in_child_of_fork([] { current_team.store(nullptr, std::memory_order_release); });
    return true;
  }();
  return is_watched;
}

const made_with_driver team_fork_watch([] {
  making();
  team_watches_forks();
});

}  // namespace

kernel_team& kernel_team::instance() {
  kernel_team* team = current_team.load(std::memory_order_acquire);
  if (team != nullptr) return *team;
  const std::lock_guard lock(making());
  team = current_team.load(std::memory_order_acquire);
  if (team == nullptr) {
    team = new kernel_team;
    current_team.store(team, std::memory_order_release);
  }
  return *team;
}

kernel_team::kernel_team() : helper_count_(std::min(processors(), most_processors) - 1) {}

// The caller holds mutex_.
bool kernel_team::start_helper() {
  if (!start_engine_thread("zevent kernel", [this] { help(); })) return false;
  ++started_;
  return true;
}

void kernel_team::help() {
  std::unique_lock lock(mutex_);
  for (;;) {
    task* joined = first_task_;
    while (joined != nullptr && joined->seats == 0) joined = joined->next;
    if (joined == nullptr) {
      work_arrived_.wait(lock);
      continue;
    }
    --joined->seats;
    ++joined->working;
    lock.unlock();
    joined->work();
    lock.lock();
    // The task lives as long as a helper works on it, and not longer.
    if (--joined->working == 0) helper_left_.notify_all();
  }
}

void kernel_team::run_helped(const std::function<void()>& work) {
  std::unique_lock lock(mutex_);
  while (started_ < helper_count_ && start_helper()) {
  }
  task shared{work, helper_count_, 0, first_task_};
  first_task_ = &shared;
  lock.unlock();
  work_arrived_.notify_all();
  work();
  lock.lock();
  shared.seats = 0;
  task** link = &first_task_;
  while (*link != &shared) link = &(*link)->next;
  *link = shared.next;
  helper_left_.wait(lock, [&] { return shared.working == 0; });
}

bool run_together(uint64_t count, const std::function<void()>& work) {
  enum : int { waiting, start, give_up };
  // Release/acquire by default: those who start see everything that came before.
  std::atomic<int> order{waiting};
  const auto follow = [&] {
    order.wait(waiting);
    if (order.load() == start) work();
  };
  std::vector<std::thread> others;
  bool complete = true;
  try {
    others.reserve(count - 1);
    while (others.size() < count - 1) others.emplace_back(follow);
  } catch (const std::system_error&) {
    complete = false;
  }
  order.store(complete ? start : give_up);
  order.notify_all();
  if (complete) work();
  for (std::thread& each : others) each.join();
  return complete;
}

}  // namespace zevent::driver
