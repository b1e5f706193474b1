#pragma once

#include <utility>

#include "base/invariant.hpp"

namespace zevent {

// Narrowing that must not lose anything; a value that does not fit is a broken invariant. Values
// that come from a user or a file are tested with std::in_range first.
template <typename To, typename From>
constexpr To checked_cast(From value) {
  ZEVENT_INVARIANT(std::in_range<To>(value));
  return static_cast<To>(value);
}

}  // namespace zevent
