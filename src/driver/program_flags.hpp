#pragma once

#include <string>
#include <string_view>

namespace zevent::driver {

// What a module's build flags ask for.
struct program_flags {
  std::string canonical;         // as they are kept in native binaries
  std::string compiler_options;  // for the kernel compiler
  bool flushes_denormals = false;
  std::string warnings;  // about flags that are not known, a line each
};

// Flags are separated by spaces or commas.
program_flags parse_program_flags(std::string_view text);

}  // namespace zevent::driver
