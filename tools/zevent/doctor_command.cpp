#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "base/terminal.hpp"
#include "command.hpp"
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

int doctor() {
  const auto all = launch::examine_machine();
  const bool coloured = wants_colour(stdout);
  size_t widest = 0;
  for (const auto& each : all) widest = std::max(widest, each.what.size());
  for (const auto& each : all) {
    const auto [word, shade] = mark_of(each.state);
    fmt::print("{} {:<{}}  {}\n", paint(fmt::format("{:<7}", word), shade, coloured), each.what,
               widest, each.found);
    if (!each.advice.empty()) fmt::print("{:<7} {:<{}}  -> {}\n", "", "", widest, each.advice);
  }
  const bool broken = std::any_of(all.begin(), all.end(), [](const auto& each) {
    return each.state == launch::health::broken;
  });
  return broken ? 1 : 0;
}

}  // namespace

action declare_doctor(CLI::App& line) {
  line.footer("Exit status: 0 when zevent works here, 1 when something it needs is broken.");
  return doctor;
}

}  // namespace zevent::tool
