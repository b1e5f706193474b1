#pragma once

#include <fmt/core.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace zevent {

// Why something could not be done, in words that tell the user what to do about it.
struct failure {
  std::string message;
};

template <typename T>
using result = tl::expected<T, failure>;

// return fail("cannot open {}: {}", path, reason);
template <typename... Args>
[[nodiscard]] tl::unexpected<failure> fail(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<failure>(failure{fmt::format(format, std::forward<Args>(args)...)});
}

}  // namespace zevent
