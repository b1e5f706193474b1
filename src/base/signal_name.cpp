#include "base/signal_name.hpp"

#include <fmt/format.h>

#include <charconv>
#include <csignal>
#include <cstring>

namespace zevent {
namespace {

// Without "SIG"; empty where there is none.
std::string_view abbreviation(int number) {
  const char* name = sigabbrev_np(number);
  return name != nullptr ? name : "";
}

}  // namespace

std::string signal_name(int number) {
  const auto name = abbreviation(number);
  return name.empty() ? fmt::format("signal {}", number) : fmt::format("SIG{}", name);
}

std::optional<int> parse_signal(std::string_view text) {
  int number = 0;
  const char* const end = text.data() + text.size();
  if (const auto [rest, error] = std::from_chars(text.data(), end, number);
      error == std::errc() && rest == end)
    return number > 0 && number < NSIG ? std::optional(number) : std::nullopt;
  if (text.starts_with("SIG")) text.remove_prefix(3);
  for (number = 1; number < NSIG; ++number)
    if (!text.empty() && text == abbreviation(number)) return number;
  return std::nullopt;
}

bool is_crash_signal(int number) {
  switch (number) {
    case SIGABRT:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGSEGV:
    case SIGSYS:
    case SIGTRAP:
      return true;
    default:
      return false;
  }
}

}  // namespace zevent
