#include "base/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace zevent {

bool wants_colour(std::FILE* stream) {
  if (isatty(fileno(stream)) == 0) return false;
  const char* no_colour = std::getenv("NO_COLOR");
  if (no_colour != nullptr && *no_colour != '\0') return false;
  const char* terminal = std::getenv("TERM");
  return terminal != nullptr && std::string_view(terminal) != "dumb";
}

std::string paint(std::string_view text, colour c, bool enabled) {
  if (!enabled || c == colour::plain) return std::string(text);
  static constexpr std::string_view codes[] = {"0", "1", "2", "31", "32", "33", "34", "36"};
  return fmt::format("\x1b[{}m{}\x1b[0m", codes[static_cast<size_t>(c)], text);
}

unsigned terminal_width(std::FILE* stream, unsigned fallback) {
  // Who sets it wants it; shells keep it to themselves.
  const char* columns = std::getenv("COLUMNS");
  if (const int wanted = columns != nullptr ? std::atoi(columns) : 0;
      wanted > 0 && isatty(fileno(stream)) != 0)
    return static_cast<unsigned>(wanted);
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return fallback;
}

}  // namespace zevent
