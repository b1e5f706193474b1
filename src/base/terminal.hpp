#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace zevent {

enum class colour { plain, bold, dim, red, green, yellow, blue, cyan };

// Colours are for terminals: a stream that is a pipe or a file, NO_COLOR, or TERM=dumb get none.
bool wants_colour(std::FILE* stream);

// `text` in the colour, or as it is when `enabled` is false.
std::string paint(std::string_view text, colour c, bool enabled);

// Columns of the terminal behind the stream; `fallback` where there is none.
unsigned terminal_width(std::FILE* stream, unsigned fallback = 80);

}  // namespace zevent
