#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

namespace zevent::driver {

// Threads that help with long launches. They are started when first needed and kept.
class kernel_team {
 public:
  static kernel_team& instance();

  // How many threads can help a caller at the same time: one less than there are processors.
  uint32_t helper_count() const { return helper_count_; }

  // Runs `work` on the calling thread and on helpers that are free, and returns when all are done
  // with it. The work divides itself: whoever comes late finds nothing left to do.
  void run_helped(const std::function<void()>& work);

 private:
  struct task {
    const std::function<void()>& work;
    uint32_t seats;        // how many helpers may still join
    uint32_t working = 0;  // helpers that have joined and are not done
    task* next = nullptr;
  };

  kernel_team();
  bool start_helper();
  void help();

  const uint32_t helper_count_;

  std::mutex mutex_;  // guards all below, and the counts of tasks
  std::condition_variable work_arrived_;
  std::condition_variable helper_left_;
  task* first_task_ = nullptr;
  uint32_t started_ = 0;
};

// Runs `work` on `count` threads that really are there at the same time, the calling one among
// them. False, and nothing has been run, when the system does not give as many.
bool run_together(uint64_t count, const std::function<void()>& work);

}  // namespace zevent::driver
