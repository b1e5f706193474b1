#pragma once

#include <level_zero/ze_api.h>

#include <span>

namespace zevent::driver {

// What zeDriverGetExtensionProperties lists; nothing stands here that does not work.
std::span<const ze_driver_extension_properties_t> extensions();

}  // namespace zevent::driver
