#include "launch/replay_driver.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/driver_choice.hpp"
#include "launch/driver_probe.hpp"

namespace zevent::launch {
namespace {

bool is_missing_file(const std::string& library) {
  std::error_code error;
  return library.find('/') != std::string::npos && !std::filesystem::exists(library, error);
}

}  // namespace

replay_driver choose_replay_driver(const std::string& asked, const std::string& recorded,
                                   const installation& files) {
  const bool is_recorded_elsewhere = !recorded.empty() && !is_software_driver(recorded);
  if (asked == "software")
    return {files.driver, is_recorded_elsewhere
                              ? fmt::format("on the software driver; recorded on {}", recorded)
                              : ""};
  if (is_software_driver(asked)) return {asked, ""};
  if (!asked.empty()) {
    // Where it cannot be used, the attempt tells why.
    const auto device = probe_device(asked);
    return {asked, device ? fmt::format("on {}: {}", asked, *device) : ""};
  }
  if (!is_recorded_elsewhere) return {files.driver, ""};
  if (is_missing_file(recorded))
    return {files.driver,
            fmt::format("on the software driver; recorded on {}, which is not here", recorded)};
  const auto device = probe_device(recorded);
  if (!device)
    return {files.driver,
            fmt::format("on the software driver; recorded on {}, which cannot be used here: {}",
                        recorded, device.error().message)};
  return {recorded, fmt::format("on {}: {}", recorded, *device)};
}

}  // namespace zevent::launch
