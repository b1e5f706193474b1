#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace zevent {

// Says something on stderr. Where that cannot be written nobody hears it, and that is all: fmt's
// own print() throws then, which is no way to end beside a program that runs.
inline void say_as_it_is(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

// A line that begins with "zevent: ".
template <typename... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  say_as_it_is("zevent: " + fmt::format(format, std::forward<Args>(args)...) + "\n");
}

}  // namespace zevent
