#pragma once

#include <atomic>
#include <cstdint>

#include "driver/fork_safety.hpp"

namespace zevent::driver {

class stream;

// Runs streams on threads. A thread is started when a stream is ready and all threads are busy, up
// to a limit, and then kept: so streams that run at the same time really do, even where one of them
// spins until another has written something, and streams that wait use no thread at all.
//
// An idle thread sleeps at its own doorbell; the last one that went idle is the first to be called.
// It does not spin before it sleeps: the other side takes longer to come back than a thread may
// burn on a machine that has something else to do (bench/driver_bench measures it).
class engine {
 public:
  static engine& instance();

  // Runs the stream soon. The caller's reference goes with it.
  void make_ready(stream& ready);

  // A stream has stopped (-1) or goes on (1) on the thread that runs it; make_ready counts by
  // itself.
  void count_running(const stream& each, int change);
  // Called before each command of low priority.
  void let_urgent_pass();

  // Streams are ready, and all threads have others.
  bool is_overrun() const { return without_thread_.load(std::memory_order_relaxed) != 0; }

 private:
  struct worker {
    static constexpr uint32_t awake = 0;   // at the doorbell, looking
    static constexpr uint32_t called = 1;  // there is work in `assigned`
    static constexpr uint32_t asleep = 2;

    std::atomic<uint32_t> doorbell{awake};
    stream* assigned = nullptr;  // written before the doorbell rings, read after
    worker* next_idle = nullptr;
  };

  static constexpr uint32_t most_workers = 64;

  engine();
  void forget_after_fork();
  bool start_worker(stream& first);
  void work_here(stream& ready);
  stream* next_for(worker& self);
  void work(stream* first);

  // Streams of high priority that are ready or run. Sequentially consistent with held_back_, like
  // the words of a sync_cell: either the last urgent stream sees who is held back, or they see it
  // gone.
  std::atomic<uint32_t> urgent_{0};
  std::atomic<uint32_t> held_back_{0};  // threads that wait for urgent_ to become 0

  // Streams from first_ready_ on, changed under the lock. Relaxed: whoever reads it looks again.
  std::atomic<uint32_t> without_thread_{0};

  fork_safe_mutex mutex_{fork_safe_mutex::rank::engine};  // guards all below
  worker* idle_ = nullptr;
  stream* first_ready_ = nullptr;
  stream* last_ready_ = nullptr;
  uint32_t worker_count_ = 0;
};

}  // namespace zevent::driver
