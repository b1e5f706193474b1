#pragma once

#include <level_zero/ze_api.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "driver/device_clock.hpp"
#include "driver/object.hpp"
#include "driver/submission_order.hpp"

namespace zevent::driver {

class driver;
class fabric_vertex;

// The queue groups that every device has: what a queue or an immediate list of the group may do.
struct queue_group {
  ze_command_queue_group_property_flags_t flags;
  size_t longest_fill_pattern_bytes;
  uint32_t queue_count;
};

class device : public object_of<device, object_kind::device> {
 public:
  // A root device with as many sub-devices as ZEVENT_SUBDEVICES says.
  device(driver& owner, uint32_t index);
  ~device();

  driver& owner_driver() const { return driver_; }
  // Position among the root devices, of itself or of its root.
  uint32_t index() const { return index_; }

  // How many sub-devices a root device has before any are hidden.
  static uint32_t subdevice_count_of_environment();

  // A sub-device is the same processor and memory under another handle.
  std::span<device* const> subdevices() const { return subdevices_; }
  device* root() const { return root_; }  // null for a root device
  uint32_t subdevice_index() const { return subdevice_index_; }
  bool is_part_of(const device& other) const { return this == &other || root_ == &other; }
  const device_clock& clock() const { return clock_; }

  std::string name() const;
  ze_device_uuid_t uuid() const;
  ze_pci_address_ext_t pci_address() const;

  // The group of that ordinal; null when there is none.
  static const queue_group* group(uint32_t ordinal);
  static uint32_t group_count();
  submission_order& order_of(uint32_t ordinal, uint32_t index);
  static bool is_copy_only(uint32_t ordinal);
  static size_t longest_fill_pattern_bytes(uint32_t ordinal);

  // Made when it is first asked for.
  fabric_vertex& vertex();

  static uint64_t memory_bytes();              // what the device reports as its memory
  static uint64_t largest_allocation_bytes();  // maxMemAllocSize

 private:
  device(device& root, uint32_t subdevice_index);

  driver& driver_;
  device* const root_ = nullptr;
  const uint32_t index_;
  const uint32_t subdevice_index_ = 0;
  std::vector<device*> subdevices_;  // its own
  const device_clock clock_;
  // Of each queue of each group, one group after the other.
  const std::unique_ptr<submission_order[]> orders_;
  std::atomic<fabric_vertex*> vertex_{nullptr};  // release/acquire: publishes the object
};

}  // namespace zevent::driver
