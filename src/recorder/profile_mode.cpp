#include "recorder/profile_mode.hpp"

#include <string_view>

#include "base/environment.hpp"

namespace zevent::recorder {

constinit std::atomic<bool> profile_is_on{false};

void begin_profile() {
  profile_is_on.store(read_environment("ZEVENT_PROFILE").has_value(), std::memory_order_relaxed);
}

const std::string& profiled_kernels() {
  static const auto* pattern =
      new std::string(read_environment("ZEVENT_PROFILE_KERNELS").value_or(""));
  return *pattern;
}

// Goes back to the last * when the rest does not fit: no recursion, no surprises in time.
bool matches_pattern(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0;
  size_t star = std::string_view::npos, after_star = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after_star = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++after_star;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace zevent::recorder
