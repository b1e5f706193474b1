#include "report/json_writer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace zevent::report {
namespace {

// How many bytes the UTF-8 character at the start of `text` has; 0 when there is none.
size_t character_bytes(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](size_t i) { return i < text.size() && (byte(i) & 0xc0) == 0x80; };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf && continues(1)) return 2;
  if (first >= 0xe0 && first <= 0xef && continues(1) && continues(2)) {
    const bool overlong = first == 0xe0 && byte(1) < 0xa0;
    const bool surrogate = first == 0xed && byte(1) >= 0xa0;
    return overlong || surrogate ? 0 : 3;
  }
  if (first >= 0xf0 && first <= 0xf4 && continues(1) && continues(2) && continues(3)) {
    const bool overlong = first == 0xf0 && byte(1) < 0x90;
    const bool too_large = first == 0xf4 && byte(1) >= 0x90;
    return overlong || too_large ? 0 : 4;
  }
  return 0;
}

}  // namespace

void json_writer::separate() {
  if (out_.empty()) return;
  const char last = out_.back();
  if (last != '{' && last != '[' && last != ':' && last != ',' && last != '\n') out_ += ',';
}

void json_writer::open(char bracket) {
  separate();
  out_ += bracket;
}

void json_writer::key(std::string_view name) {
  string(name);
  out_ += ':';
}

void json_writer::string(std::string_view text) {
  separate();
  out_ += '"';
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    const size_t bytes = character_bytes(text);
    if (first == '"' || first == '\\') {
      out_ += '\\';
      out_ += text.front();
    } else if (first < 0x20 || first == 0x7f || bytes == 0) {
      fmt::format_to(std::back_inserter(out_), "\\u{:04x}", first);
    } else {
      out_ += text.substr(0, bytes);
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  out_ += '"';
}

void json_writer::number(uint64_t value) {
  separate();
  fmt::format_to(std::back_inserter(out_), "{}", value);
}

void json_writer::number(int64_t value) {
  separate();
  fmt::format_to(std::back_inserter(out_), "{}", value);
}

void json_writer::number(double value) {
  if (!std::isfinite(value)) return string(fmt::format("{}", value));
  separate();
  fmt::format_to(std::back_inserter(out_), "{}", value);
}

void json_writer::boolean(bool value) {
  separate();
  out_ += value ? "true" : "false";
}

void json_writer::null() {
  separate();
  out_ += "null";
}

}  // namespace zevent::report
