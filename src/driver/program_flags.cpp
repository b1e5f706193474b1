#include "driver/program_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace zevent::driver {
namespace {

// Options of OpenCL that the kernel compiler knows what to do with.
constexpr std::array passed_on = {
    std::string_view("-cl-opt-disable"),
    std::string_view("-cl-mad-enable"),
    std::string_view("-cl-no-signed-zeros"),
    std::string_view("-cl-unsafe-math-optimizations"),
    std::string_view("-cl-finite-math-only"),
    std::string_view("-cl-fast-relaxed-math"),
    std::string_view("-cl-denorms-are-zero"),
    std::string_view("-cl-single-precision-constant"),
    std::string_view("-cl-fp32-correctly-rounded-divide-sqrt"),
};

constexpr std::string_view level_flag = "-ze-opt-level=";

bool is_separator(char c) {
  return c == ' ' || c == ',' || c == '\t' || c == '\n';
}

// 'O' and the digit; "" when it is not a level.
std::string optimisation_level(std::string_view flag) {
  std::string_view level = flag.substr(level_flag.size());
  if (level.starts_with('O')) level.remove_prefix(1);
  if (level.size() != 1 || level[0] < '0' || level[0] > '3') return {};
  return fmt::format("O{}", level);
}

void add_word(std::string& text, std::string_view word) {
  if (!text.empty()) text += ' ';
  text += word;
}

}  // namespace

program_flags parse_program_flags(std::string_view text) {
  program_flags flags;
  flags.compiler_options = "-x spir -spir-std=1.2";
  while (!text.empty()) {
    const auto start = std::find_if_not(text.begin(), text.end(), is_separator);
    const auto end = std::find_if(start, text.end(), is_separator);
    const std::string_view flag(start, end);
    text = std::string_view(end, text.end());
    if (flag.empty()) continue;
    if (flag.starts_with(level_flag)) {
      const std::string level = optimisation_level(flag);
      if (level.empty()) {
        flags.warnings += fmt::format("warning: build flag \"{}\" is ignored\n", flag);
        continue;
      }
      add_word(flags.canonical, fmt::format("{}{}", level_flag, level));
      if (level == "O0") add_word(flags.compiler_options, "-cl-opt-disable");
      continue;
    }
    add_word(flags.canonical, flag);
    if (flag == "-ze-opt-disable") {
      add_word(flags.compiler_options, "-cl-opt-disable");
    } else if (std::find(passed_on.begin(), passed_on.end(), flag) != passed_on.end()) {
      add_word(flags.compiler_options, flag);
      if (flag == "-cl-denorms-are-zero") flags.flushes_denormals = true;
    } else if (!flag.starts_with("-ze-") && flag != "-g" && !flag.starts_with("-cl-std=")) {
      flags.warnings += fmt::format("warning: build flag \"{}\" is ignored\n", flag);
    }
  }
  return flags;
}

}  // namespace zevent::driver
