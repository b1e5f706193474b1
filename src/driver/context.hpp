#pragma once

#include <level_zero/ze_api.h>

#include <atomic>
#include <span>
#include <vector>

#include "driver/device.hpp"
#include "driver/object.hpp"

namespace zevent::driver {

class driver;

class context : public object_of<context, object_kind::context> {
 public:
  context(driver& owner, std::vector<device*> devices);
  ~context();

  driver& owner_driver() const { return driver_; }
  std::span<device* const> devices() const { return devices_; }
  bool contains(const device& candidate) const;

  // When the device is lost, everything that waits in this context returns DEVICE_LOST.
  bool is_lost() const { return lost_.load(std::memory_order_acquire); }
  void mark_lost() {
    lost_.store(true, std::memory_order_release);
    any_lost_.store(2, std::memory_order_relaxed);
  }
  // 2 if any context ever was, and 0 otherwise: what a query adds to what it reads (event::query).
  static uint64_t any_lost() { return any_lost_.load(std::memory_order_relaxed); }
  // All contexts that there are of the device.
  static void mark_lost(const device& lost);

 private:
  driver& driver_;
  const std::vector<device*> devices_;
  static constinit std::atomic<uint64_t> any_lost_;
  std::atomic<bool> lost_{false};  // release/acquire: the work that failed is seen as failed
};

}  // namespace zevent::driver
