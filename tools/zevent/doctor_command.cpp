#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/environment.hpp"
#include "base/terminal.hpp"
#include "command.hpp"
#include "help_text.hpp"
#include "launch/doctor.hpp"

namespace zevent::tool {
namespace {

struct mark {
  std::string_view word;
  colour shade;
};

mark mark_of(launch::health state) {
  switch (state) {
    case launch::health::good:
      return {"ok", colour::green};
    case launch::health::note:
      return {"note", colour::cyan};
    case launch::health::missing:
      return {"absent", colour::yellow};
    case launch::health::broken:
      return {"BROKEN", colour::red};
  }
  return {"", colour::plain};
}

// What there is to set, whether or not it is set here.
void list_variables() {
  const size_t width = help_width();
  for (const auto& each : environment_variables()) {
    fmt::print("{}={}\n", each.name, each.values);
    std::string meaning(each.meaning);
    if (!each.default_value.empty()) meaning += fmt::format(" (default: {})", each.default_value);
    fmt::print("    {}\n", wrapped(meaning, width, 4, 4));
  }
}

int doctor(bool variables) {
  if (variables) {
    list_variables();
    return 0;
  }
  const auto all = launch::examine_machine();
  const bool coloured = wants_colour(stdout);
  const bool on_terminal = isatty(STDOUT_FILENO) != 0;
  const size_t width = terminal_width(stdout);
  size_t widest = 0;
  for (const auto& each : all) widest = std::max(widest, each.what.size());
  for (const auto& each : all) {
    const auto [word, shade] = mark_of(each.state);
    const size_t column = 8 + widest + 2;
    const auto text = [&](const std::string& words) {
      return on_terminal ? wrapped(words, width, column, column) : words;
    };
    fmt::print("{} {:<{}}  {}\n", paint(fmt::format("{:<7}", word), shade, coloured), each.what,
               widest, text(each.found));
    if (!each.advice.empty())
      fmt::print("{:<7} {:<{}}  {}\n", "", "", widest, text("-> " + each.advice));
  }
  const bool broken = std::any_of(all.begin(), all.end(), [](const auto& each) {
    return each.state == launch::health::broken;
  });
  return broken ? exit_found : 0;
}

}  // namespace

action declare_doctor(CLI::App& line) {
  auto variables = std::make_shared<bool>(false);
  line.footer(
      "Variables of the environment that are set here and concern Level Zero are shown too. Exit\n"
      "status: 0 when zevent works here, 1 when something it needs is broken.");
  line.add_flag("--variables", *variables, "instead, every variable that zevent reads");
  return [variables] { return doctor(*variables); };
}

}  // namespace zevent::tool
