#pragma once

#include <string>
#include <string_view>

namespace zevent::report {

// Buffered output to a descriptor that stays the caller's. Throws std::system_error when it cannot
// write; a closed pipe is such an error, which main() takes for a quiet end.
class text_output {
 public:
  explicit text_output(int descriptor) : descriptor_(descriptor) {}
  // Writes what is left, unless an error was thrown before.
  ~text_output();
  text_output(const text_output&) = delete;
  text_output& operator=(const text_output&) = delete;

  void write(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= flush_at_bytes) flush();
  }
  void line(std::string_view text) {
    buffer_ += text;
    write("\n");
  }
  void flush();

 private:
  static constexpr size_t flush_at_bytes = size_t{64} << 10;

  int descriptor_;
  bool failed_ = false;
  std::string buffer_;
};

}  // namespace zevent::report
