#include "repro/escape.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace zevent::repro {
namespace {

bool is_printable(char c) {
  return c >= ' ' && c <= '~';
}

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

std::string octal(char c) {
  return fmt::format("\\{:03o}", static_cast<unsigned char>(c));
}

// Bytes that are not printable ASCII become \033; those of UTF-8 too, for some of its characters
// change the direction of the text.
std::string visible(std::string_view text) {
  std::string out;
  for (const char c : text) out += is_printable(c) ? std::string(1, c) : octal(c);
  return out;
}

}  // namespace

std::string c_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (c == '\n')
      out += "\\n";
    else if (c == '?' || !is_printable(c))
      out += octal(c);  // '?': no trigraphs
    else
      out += c;
  }
  return out + "\"";
}

std::string c_comment(std::string_view text) {
  std::string out;
  for (const char c : visible(text)) {
    // Neither the end of the comment nor the beginning of another one, nor a trigraph, nor a line
    // that goes on.
    if (!out.empty() && ((c == '/' && out.back() == '*') || (c == '*' && out.back() == '/') ||
                         (c == '?' && out.back() == '?')))
      out += ' ';
    out += c;
  }
  if (out.ends_with('\\') || out.ends_with('*')) out += ' ';
  return out;
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view harmless = "_-./:,=@%+";
  const bool is_plain = !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return is_alphanumeric(c) || harmless.find(c) != harmless.npos;
  });
  if (is_plain) return std::string(text);
  if (std::all_of(text.begin(), text.end(), is_printable)) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
  }
  // Every POSIX shell's printf knows these.
  std::string out = "\"$(printf '";
  for (const char c : text)
    out += is_alphanumeric(c) || harmless.substr(0, harmless.find('%')).find(c) != harmless.npos
               ? std::string(1, c)
               : octal(c);
  return out + "')\"";
}

std::string markdown_code(std::string_view text) {
  std::string out;
  for (const char c : visible(text)) {
    if (c == '|') out += '\\';  // a bar ends a cell, also in code
    out += c == '`' ? std::string("\\140") : std::string(1, c);
  }
  return "`" + out + "`";
}

}  // namespace zevent::repro
