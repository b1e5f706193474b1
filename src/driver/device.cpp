#include "driver/device.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>

#include "base/checked_cast.hpp"
#include "base/environment.hpp"
#include "driver/affinity_mask.hpp"
#include "driver/device_hierarchy.hpp"
#include "driver/made_with_driver.hpp"
#include "driver/quirks.hpp"

namespace zevent::driver {
namespace {

constexpr queue_group groups[] = {
    {ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE | ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY |
         ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COOPERATIVE_KERNELS,
     SIZE_MAX, 1},
    {ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY, 16, 2},
};

// A PCI domain that machines do not have, so that no real device is taken for this one.
constexpr uint32_t pci_domain = 0x7a65;

constexpr uint32_t queue_count_before(size_t ordinal) {
  uint32_t count = 0;
  for (size_t i = 0; i < ordinal; ++i) count += groups[i].queue_count;
  return count;
}

constexpr uint32_t queue_count_of_all_groups = queue_count_before(std::size(groups));

uint64_t machine_memory_bytes() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

device::device(driver& owner, uint32_t index)
    : driver_(owner), index_(index), orders_(new submission_order[queue_count_of_all_groups]) {
  const uint32_t count = subdevice_count_of_environment();
  // Memory may run out on the way: what was made until then goes again.
  std::vector<std::unique_ptr<device>> made;
  const affinity_mask& mask = affinity_mask::of_environment();
  const bool is_flat = hierarchy_of_environment() != device_hierarchy::composite;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t number = index * count + i;
    if (is_flat ? mask.shows_flat(number) : mask.shows(index, i)) {
      made.emplace_back(new device(*this, i));
    }
  }
  subdevices_.reserve(made.size());
  for (auto& each : made) subdevices_.push_back(each.release());
}

uint32_t device::subdevice_count_of_environment() {
  return checked_cast<uint32_t>(read_environment_number("ZEVENT_SUBDEVICES", 0, 0, 16));
}

device::~device() {
  for (device* each : subdevices_) delete each;
}

device::device(device& root, uint32_t subdevice_index)
    : driver_(root.driver_),
      root_(&root),
      index_(root.index_),
      subdevice_index_(subdevice_index),
      orders_(new submission_order[queue_count_of_all_groups]) {}

std::string device::name() const {
  return "zevent software device";
}

ze_device_uuid_t device::uuid() const {
  ze_device_uuid_t uuid{};
  std::memcpy(uuid.id, "zevent-device", 13);
  if (root_ != nullptr) uuid.id[14] = static_cast<uint8_t>(subdevice_index_ + 1);
  uuid.id[15] = static_cast<uint8_t>(index_ + 1);
  return uuid;
}

ze_pci_address_ext_t device::pci_address() const {
  return {pci_domain, index_, 0, 0};
}

const queue_group* device::group(uint32_t ordinal) {
  return ordinal < std::size(groups) ? &groups[ordinal] : nullptr;
}

uint32_t device::group_count() {
  return std::size(groups);
}

submission_order& device::order_of(uint32_t ordinal, uint32_t index) {
  return orders_[queue_count_before(ordinal) + index];
}

bool device::is_copy_only(uint32_t ordinal) {
  const queue_group* asked = group(ordinal);
  return asked != nullptr && (asked->flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE) == 0;
}

size_t device::longest_fill_pattern_bytes(uint32_t ordinal) {
  if (is_copy_only(ordinal) && has_quirk(quirk::byte_fill_on_copy_engine)) return 1;
  const queue_group* asked = group(ordinal);
  return asked == nullptr ? 0 : asked->longest_fill_pattern_bytes;
}

uint64_t device::memory_bytes() {
  static const uint64_t bytes =
      read_environment_number("ZEVENT_MEMORY_MIB", machine_memory_bytes() >> 20, 16, 16777216)
      << 20;
  return bytes;
}

const made_with_driver size_of_memory([] { device::memory_bytes(); });

uint64_t device::largest_allocation_bytes() {
  constexpr uint64_t most = uint64_t{4} << 30;
  return std::min(most, memory_bytes() / 4);
}

}  // namespace zevent::driver
