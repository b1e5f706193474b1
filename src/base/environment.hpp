#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace zevent {

// Every environment variable that zevent reads, declared once: `zevent doctor` and the
// documentation list them from here.
struct environment_variable {
  std::string_view name;
  std::string_view values;         // what may stand in it, as the help text shows it
  std::string_view default_value;  // "" when unset means "off"
  std::string_view meaning;
  // Whether it is a setting of the software driver and nothing else: neither a place on the machine
  // nor a program. A replay takes these from a trace, which may be anyone's.
  bool is_setting_of_driver = false;
};

std::span<const environment_variable> environment_variables();

// The value of a declared variable; nullopt when it is unset or empty. Asking for a name that is
// not declared is a broken invariant.
std::optional<std::string> read_environment(std::string_view name);

// The same as a decimal number within [least, most]. A value that is not one is reported on stderr
// once, with the range, and the default is used.
uint64_t read_environment_number(std::string_view name, uint64_t default_value, uint64_t least,
                                 uint64_t most);

}  // namespace zevent
