#include "driver/device_hierarchy.hpp"

#include <cstdlib>
#include <string_view>

#include "driver/made_with_driver.hpp"

namespace zevent::driver {

device_hierarchy hierarchy_of_environment() {
  static const device_hierarchy only = [] {
    const char* text = std::getenv("ZE_FLAT_DEVICE_HIERARCHY");
    const std::string_view wanted = text != nullptr ? text : "";
    if (wanted == "FLAT") return device_hierarchy::flat;
    if (wanted == "COMBINED") return device_hierarchy::combined;
    return device_hierarchy::composite;
  }();
  return only;
}

const made_with_driver hierarchy([] { hierarchy_of_environment(); });

}  // namespace zevent::driver
