#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launch/elf_symbols.hpp"
#include "launch/installation.hpp"

namespace zevent::launch {

// How a program reaches the software driver.
//   loader  through the stock loader that is installed, which takes the driver as its only one
//   direct  the driver itself answers to the loader's name, libze_loader.so.1
enum class way_in { loader, direct };

std::string_view name_of(way_in way);

struct way_choice {
  way_in way;
  std::string reason;  // one phrase, for `zevent run --verbose` and `zevent doctor`
};

// The loader where it has every function that the program asks for; directly otherwise: a loader
// that is missing or too old, or a program that cannot be looked into (a script, say).
way_choice choose_way_in(const std::string& program_path, const std::string& loader_path);

// For a program with several drivers, which it has by the loader alone: that, unless it is missing
// or known to be too old.
way_choice choose_way_to_several(const std::string& program_path, const std::string& loader_path);

// What the user asked for, "loader" or "direct"; anything else leaves it to the rules above.
way_choice choose_way_in_as_asked(std::string_view asked, const std::string& program,
                                  bool has_several_drivers = false);

// The decisions alone, from what was read of both files.
way_choice choose_way_in(const result<elf_symbols>& program, const result<elf_symbols>& loader);
way_choice choose_way_to_several(const result<elf_symbols>& program,
                                 const result<elf_symbols>& loader);

using environment_changes = std::vector<std::pair<std::string, std::string>>;

// What has to be set in a program's environment. `library_path` is its present LD_LIBRARY_PATH.
environment_changes environment_for(way_in way, const installation& files,
                                    const std::optional<std::string>& library_path);

}  // namespace zevent::launch
