#pragma once

#include <level_zero/ze_api.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_set>
#include <vector>

#include "recorder/profile_clock.hpp"

namespace zevent::recorder {

class timed_batch;

// The profiler's own events of one context and device, which take the times of the program's
// commands, and memory of its own to copy times to. Both are used again and again, and there are
// as many as are needed. The lock is never held across a driver's call.
class timing_pool {
 public:
  timing_pool(ze_context_handle_t context, ze_device_handle_t device, profile_clock& clock)
      : context_(context), device_(device), clock_(clock) {}

  ze_context_handle_t context() const { return context_; }
  ze_device_handle_t device() const { return device_; }
  profile_clock& clock() const { return clock_; }

  // Adds `count` events that are not signalled. False when the driver has no more.
  bool take(size_t count, std::vector<ze_event_handle_t>& to);
  // Events that are not signalled and that no command refers to any more.
  void give_back(std::span<const ze_event_handle_t> events);

  // Room for the times of one command; null when the driver has none.
  ze_kernel_timestamp_result_t* take_room();
  void give_back_room(ze_kernel_timestamp_result_t* room);

  // Batches with times that are still to be collected.
  void add(const std::shared_ptr<timed_batch>& batch);
  void remove(const std::shared_ptr<timed_batch>& batch);
  std::vector<std::shared_ptr<timed_batch>> batches();

  // Everything goes back to the driver: the context is about to be destroyed.
  void destroy();

 private:
  bool grow();

  const ze_context_handle_t context_;
  const ze_device_handle_t device_;
  profile_clock& clock_;

  std::mutex mutex_;  // guards all below
  size_t next_pool_size_ = 64;
  std::vector<ze_event_handle_t> free_;
  std::vector<ze_event_handle_t> all_;
  std::vector<ze_event_pool_handle_t> pools_;
  std::vector<ze_kernel_timestamp_result_t*> free_rooms_;
  std::vector<void*> memory_;
  std::unordered_set<std::shared_ptr<timed_batch>> batches_;
};

}  // namespace zevent::recorder
