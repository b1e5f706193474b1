#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace zevent::report {

// Appends JSON to a string. Commas come by themselves.
class json_writer {
 public:
  explicit json_writer(std::string& out) : out_(out) {}

  void begin_object() { open('{'); }
  void end_object() { out_ += '}'; }
  void begin_array() { open('['); }
  void end_array() { out_ += ']'; }
  void key(std::string_view name);

  // Bytes that are not UTF-8 are written as the characters of those numbers.
  void string(std::string_view text);
  void number(uint64_t value);
  void number(int64_t value);
  // What is not a number in JSON becomes a string.
  void number(double value);
  void boolean(bool value);
  void null();

  // A key and its value.
  template <typename T>
  void member(std::string_view name, const T& value) {
    key(name);
    if constexpr (std::is_same_v<T, bool>)
      boolean(value);
    else if constexpr (std::is_convertible_v<T, std::string_view>)
      string(value);
    else if constexpr (std::is_unsigned_v<T>)
      number(uint64_t{value});
    else
      number(value);
  }

 private:
  void separate();
  void open(char bracket);

  std::string& out_;
};

}  // namespace zevent::report
