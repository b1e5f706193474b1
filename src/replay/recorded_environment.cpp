#include "replay/recorded_environment.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace zevent::replay {
namespace {

constexpr std::array<std::string_view, 5> prefixes = {"ZE_", "ZES_", "ZET_", "ZEX_", "ZEVENT_"};
constexpr std::array<std::string_view, 3> names = {"NEOReadDebugKeys",
                                                   "OverrideDefaultFP64Settings", "ForceDeviceId"};
// How the program was put on a driver and recorded, and where things are on that machine.
constexpr std::array<std::string_view, 7> ways_in = {
    "ZE_ENABLE_ALT_DRIVERS", "ZE_ENABLE_LOADER_DRIVER_DDI_PATH",
    "ZEVENT_DRIVER",         "ZEVENT_LOG",
    "ZEVENT_DEVICE_FOLDER",  "ZEVENT_CACHE_DIR",
    "ZEVENT_KERNEL_COMPILER"};

bool is_about_drivers(std::string_view name) {
  if (std::find(ways_in.begin(), ways_in.end(), name) != ways_in.end()) return false;
  if (name.starts_with("ZEVENT_RECORD") || name.starts_with("ZEVENT_PROFILE")) return false;
  return std::find(names.begin(), names.end(), name) != names.end() ||
         std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view each) { return name.starts_with(each); });
}

}  // namespace

std::vector<std::pair<std::string, std::string>> recorded_environment(
    const trace::process_info& process) {
  std::vector<std::pair<std::string, std::string>> out;
  const std::string all = process.fact("environment");
  std::string_view rest = all;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\0'), rest.size());
    const std::string_view entry = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const size_t equals = entry.find('=');
    if (equals == entry.npos || !is_about_drivers(entry.substr(0, equals))) continue;
    out.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace zevent::replay
