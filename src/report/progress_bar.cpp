#include "report/progress_bar.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/message.hpp"
#include "base/terminal.hpp"

namespace zevent::report {
namespace {

constexpr auto draw_every = std::chrono::milliseconds(100);

}  // namespace

std::string progress_line(const std::string& what, uint64_t done, uint64_t total,
                          unsigned columns) {
  const double share =
      total == 0 ? 0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const size_t around = what.size() + std::string_view("  []  100 %").size();
  const size_t width = columns > around + 10 ? std::min<size_t>(40, columns - around) : 10;
  const auto filled = static_cast<size_t>(share * static_cast<double>(width));
  return fmt::format("{}  [{}{}]  {:>3} %", what, std::string(filled, '#'),
                     std::string(width - filled, '.'), static_cast<int>(share * 100));
}

progress_bar::progress_bar(std::string what, std::chrono::milliseconds appears_after)
    : what_(std::move(what)),
      enabled_(isatty(STDERR_FILENO) != 0),
      next_draw_(clock::now() + appears_after) {}

void progress_bar::update(uint64_t done, uint64_t total) {
  if (!enabled_ || clock::now() < next_draw_) return;
  next_draw_ = clock::now() + draw_every;
  drawn_ = true;
  const unsigned columns = terminal_width(stderr);
  say_as_it_is("\r" + progress_line(what_, done, total, columns > 1 ? columns - 1 : 1));
}

progress_bar::~progress_bar() {
  // Back to the start of the line, and erase it.
  if (drawn_) say_as_it_is("\r\x1b[K");
}

}  // namespace zevent::report
