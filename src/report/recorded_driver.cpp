#include "report/recorded_driver.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/driver_choice.hpp"

namespace zevent::report {

std::string describe_driver(const trace::process_info& process) {
  std::string text = process.fact("driver");
  if (text.empty()) return text;
  if (const auto version = process.fact("driver version"); !version.empty())
    text += fmt::format(", version {}", version);
  if (const auto version = process.fact("driver api version"); !version.empty())
    text += fmt::format(", API {}", version);
  for (size_t i = 0;; ++i) {
    const auto device = process.fact(fmt::format("device {}", i));
    if (device.empty()) return text;
    text += fmt::format("{}{}", i == 0 ? ": " : ", ", device);
  }
}

std::vector<std::string> describe_hardware_drivers(const trace::run_info& run) {
  std::vector<std::string> out;
  for (const auto& each : run.processes) {
    const auto text = describe_driver(each);
    if (text.empty() || is_software_driver(each.fact("driver"))) continue;
    if (std::find(out.begin(), out.end(), text) == out.end()) out.push_back(text);
  }
  return out;
}

}  // namespace zevent::report
