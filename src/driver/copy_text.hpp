#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace zevent::driver {

// Cut to what there is room for, with a zero at its end.
template <size_t Size>
void copy_text(std::string_view text, char (&out)[Size]) {
  const size_t length = std::min(text.size(), Size - 1);
  std::memcpy(out, text.data(), length);
  out[length] = '\0';
}

}  // namespace zevent::driver
