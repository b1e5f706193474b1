#include "base/byte_size.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

namespace zevent {
namespace {

constexpr std::string_view prefixes = "kmgt";

std::string_view without_blanks_before(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

// How many bytes the unit behind a number is; 0 where that is no unit.
double bytes_of_unit(std::string_view unit) {
  std::string lower(unit);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (lower.empty() || lower == "b" || lower == "bytes") return 1;
  const size_t power = prefixes.find(lower.front());
  const std::string rest = lower.substr(1);
  if (power == std::string_view::npos || (!rest.empty() && rest != "b" && rest != "ib")) return 0;
  return std::pow(rest == "ib" ? 1024.0 : 1000.0, static_cast<double>(power + 1));
}

}  // namespace

result<uint64_t> parse_byte_size(std::string_view text) {
  const auto refuse = [&] {
    return fail("'{}' is not a size; write 500M or 2G, for example", text);
  };
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return refuse();
  const double unit =
      bytes_of_unit(without_blanks_before({behind, static_cast<size_t>(end - behind)}));
  // Beyond this, no disk is; and every number below is exact enough.
  constexpr double most_bytes = 9e18;
  if (unit == 0 || number * unit > most_bytes) return refuse();
  return static_cast<uint64_t>(number * unit);
}

std::string byte_size_text(uint64_t bytes) {
  if (bytes < 10'000) return fmt::format("{} bytes", bytes);
  const auto tenths_of = [&](double unit) {
    return std::round(static_cast<double>(bytes) / unit * 10) / 10;
  };
  if (bytes < 1'000'000) return fmt::format("{} kB", tenths_of(1e3));
  if (bytes < 1'000'000'000) return fmt::format("{} MB", tenths_of(1e6));
  return fmt::format("{} GB", tenths_of(1e9));
}

}  // namespace zevent
