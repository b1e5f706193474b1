#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace zevent::driver {

// Which devices the user wants to be seen, as ZE_AFFINITY_MASK says it: "0,2.1" is device 0 and
// sub-device 1 of device 2. What cannot be read is left out; an empty mask hides nothing.
class affinity_mask {
 public:
  explicit affinity_mask(std::string_view text);
  static const affinity_mask& of_environment();

  bool shows(uint32_t device) const;
  bool shows(uint32_t device, uint32_t subdevice) const;
  // Where sub-devices are counted over all devices. An entry with a dot means nothing there.
  bool shows_flat(uint32_t number) const;

 private:
  struct entry {
    uint32_t device;
    uint32_t subdevice;  // all_subdevices: the whole device
  };
  static constexpr uint32_t all_subdevices = UINT32_MAX;

  std::vector<entry> entries_;
};

}  // namespace zevent::driver
