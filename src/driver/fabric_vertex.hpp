#pragma once

#include "driver/device.hpp"
#include "driver/object.hpp"

namespace zevent::driver {

// A device as a place in a fabric. Every device and sub-device is one; there are no links between
// them, for they are one processor.
class fabric_vertex : public object_of<fabric_vertex, object_kind::fabric_vertex> {
 public:
  explicit fabric_vertex(device& of) : device_(of) {}

  device& owner_device() const { return device_; }

 private:
  device& device_;
};

}  // namespace zevent::driver
