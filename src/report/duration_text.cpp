#include "report/duration_text.hpp"

#include <fmt/format.h>

#include <iterator>

namespace zevent::report {
namespace {

// Three significant digits above one, as many behind the point as that leaves.
std::string scaled(double value, const char* unit) {
  const int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, digits, unit);
}

}  // namespace

std::string duration_text(uint64_t ns) {
  if (ns < 1000) return fmt::format("{} ns", ns);
  const auto value = static_cast<double>(ns);
  if (value < 999.5e3) return scaled(value / 1e3, "us");
  if (value < 999.5e6) return scaled(value / 1e6, "ms");
  return scaled(value / 1e9, "s");
}

std::string seconds_text(uint64_t ns) {
  return fmt::format("{}.{:09}", ns / 1'000'000'000, ns % 1'000'000'000);
}

std::string bytes_text(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  static constexpr const char* units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 1023.5 && unit + 1 < std::size(units); ++unit) value /= 1024;
  return scaled(value, units[unit]);
}

}  // namespace zevent::report
