#pragma once

#include <level_zero/ze_api.h>

#include <span>
#include <vector>

#include "driver/object.hpp"

namespace zevent::driver {

class context;
class device;

// The one driver of this library. It is made on first use and never destroyed: clients destroy
// their lists and contexts from atexit handlers that run after all static destructors.
class driver : public object_of<driver, object_kind::driver> {
 public:
  static constexpr uint32_t most_devices = 16;

  // Made by the first call, with everything that the driver keeps for the process.
  static driver& instance();

  // Root devices, as many as ZEVENT_DEVICES says.
  std::span<device* const> devices() const { return devices_; }
  // What zeDeviceGet returns: these, or their sub-devices, see device_hierarchy.hpp.
  std::span<device* const> listed_devices() const { return listed_devices_; }

  // The context that exists without being created (zeDriverGetDefaultContext).
  context& default_context() const { return *default_context_; }

  ze_driver_uuid_t uuid() const;

 private:
  driver();

  std::vector<device*> devices_;
  std::vector<device*> listed_devices_;
  context* default_context_ = nullptr;
};

}  // namespace zevent::driver
