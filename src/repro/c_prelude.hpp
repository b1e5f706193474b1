#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace zevent::repro {

// A piece of C that calls refer to: macros and types, which every file needs, and functions and
// variables, which are needed once.
struct c_helper {
  std::string_view name;
  std::vector<std::string_view> needs;  // other helpers
  std::string_view macros;
  std::string_view code;
};

// Those that are named, and what they need, in an order in which they can stand.
std::vector<const c_helper*> c_helpers(const std::set<std::string>& names);

// C as it stands in a file of its own, made ready to be shared between files: "static" at the
// beginning of a line is taken away.
struct shared_code {
  std::string declarations, definitions;
};
shared_code share(std::string_view code);

}  // namespace zevent::repro
