#pragma once

#include <span>
#include <string>
#include <string_view>

namespace zevent::tool {

// " (did you mean 'record'?)" where a known word is a slip of the keyboard away, else "".
std::string suggestion(std::string_view word, std::span<const std::string> known);

}  // namespace zevent::tool
