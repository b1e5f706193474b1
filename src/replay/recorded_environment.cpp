#include "replay/recorded_environment.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/environment.hpp"

namespace zevent::replay {
namespace {

// Settings of Level Zero and of Intel's driver that say what devices are there and how they behave.
// A variable that names a library, a file or a folder is none of them: a trace may be anyone's.
constexpr std::array<std::string_view, 13> settings = {"ZE_FLAT_DEVICE_HIERARCHY",
                                                       "ZE_AFFINITY_MASK",
                                                       "ZE_ENABLE_PCI_ID_DEVICE_ORDER",
                                                       "ZE_SHARED_FORCE_DEVICE_ALLOC",
                                                       "ZE_ENABLE_VALIDATION_LAYER",
                                                       "ZE_ENABLE_PARAMETER_VALIDATION",
                                                       "ZES_ENABLE_SYSMAN",
                                                       "ZET_ENABLE_METRICS",
                                                       "ZET_ENABLE_PROGRAM_INSTRUMENTATION",
                                                       "NEOReadDebugKeys",
                                                       "OverrideDefaultFP64Settings",
                                                       "ForceDeviceId",
                                                       "EnableImplicitScaling"};

bool is_setting(std::string_view name) {
  const auto own = environment_variables();
  return std::find(settings.begin(), settings.end(), name) != settings.end() ||
         std::any_of(own.begin(), own.end(), [&](const environment_variable& each) {
           return each.is_setting_of_driver && each.name == name;
         });
}

// How the program was put on a driver and recorded, and where things are on that machine: another
// way is taken now.
constexpr std::array<std::string_view, 8> ways_in = {
    "ZE_ENABLE_ALT_DRIVERS",  "ZE_ENABLE_LOADER_DRIVER_DDI_PATH",
    "ZEVENT_DRIVER",          "ZEVENT_LOG",
    "ZEVENT_DEVICE_FOLDER",   "ZEVENT_CACHE_DIR",
    "ZEVENT_KERNEL_COMPILER", "ZEVENT_TRIAL_NOTE"};

bool is_way_in(std::string_view name) {
  return name.starts_with("ZEVENT_RECORD") || name.starts_with("ZEVENT_PROFILE") ||
         std::find(ways_in.begin(), ways_in.end(), name) != ways_in.end();
}

template <typename Wanted>
variable_list recorded_variables(const trace::process_info& process, Wanted is_wanted) {
  variable_list out;
  const std::string all = process.fact("environment");
  std::string_view rest = all;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\0'), rest.size());
    const std::string_view entry = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const size_t equals = entry.find('=');
    if (equals != entry.npos && is_wanted(entry.substr(0, equals)))
      out.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

variable_list recorded_environment(const trace::process_info& process) {
  return recorded_variables(process, is_setting);
}

variable_list variables_left_out(const trace::process_info& process) {
  return recorded_variables(
      process, [](std::string_view name) { return !is_setting(name) && !is_way_in(name); });
}

}  // namespace zevent::replay
