#include "launch/replay_driver.hpp"

#include <fmt/format.h>

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/driver_choice.hpp"
#include "launch/driver_probe.hpp"

namespace zevent::launch {
namespace {

bool is_missing_file(const std::string& library) {
  std::error_code error;
  return library.find('/') != std::string::npos && !std::filesystem::exists(library, error);
}

// This machine's, since it was started; "" where the kernel does not say.
std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

bool is_trusted(const recorded_driver& recorded) {
  if (!recorded.library.starts_with('/')) return false;
  const bool is_from_here = !recorded.boot.empty() && recorded.boot == boot_id();
  return is_from_here || is_installed_by_system(recorded.library);
}

}  // namespace

bool is_installed_by_system(const std::string& library) {
  std::error_code error;
  const auto path = std::filesystem::canonical(library, error);
  if (error) return false;
  const auto top = path.begin() == path.end() ? path : *std::next(path.begin());
  if (top != "usr" && top != "opt" && !top.string().starts_with("lib")) return false;
  for (auto each = path; each != each.root_path(); each = each.parent_path()) {
    struct stat about {};
    if (stat(each.c_str(), &about) != 0) return false;
    const bool others_may_write = (about.st_mode & (S_IWGRP | S_IWOTH)) != 0;
    if (about.st_uid != 0 || others_may_write) return false;
  }
  return true;
}

replay_driver choose_replay_driver(const std::string& asked, const recorded_driver& from,
                                   const installation& files) {
  const std::string& recorded = from.library;
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
  if (!is_trusted(from))
    return {
        files.driver,
        fmt::format("on the software driver; recorded elsewhere on {}, which is not installed by "
                    "this system: --driver {} uses it",
                    recorded, recorded)};
  const auto device = probe_device(recorded);
  if (!device)
    return {files.driver,
            fmt::format("on the software driver; recorded on {}, which cannot be used here: {}",
                        recorded, device.error().message)};
  return {recorded, fmt::format("on {}: {}", recorded, *device)};
}

}  // namespace zevent::launch
