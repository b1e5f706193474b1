#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace zevent {

// Appends what untrusted_reader reads.
class byte_writer {
 public:
  template <std::integral T>
  void number(T value) {
    const auto old_size = bytes_.size();
    bytes_.resize(old_size + sizeof(T));
    std::memcpy(bytes_.data() + old_size, &value, sizeof(T));
  }

  void bytes(std::span<const std::byte> run) {
    bytes_.insert(bytes_.end(), run.begin(), run.end());
  }

  void varint(uint64_t value) {
    while (value >= 0x80) {
      number(static_cast<uint8_t>(value | 0x80));
      value >>= 7;
    }
    number(static_cast<uint8_t>(value));
  }

  void text(std::string_view text) {
    varint(text.size());
    bytes(std::as_bytes(std::span(text)));
  }

  const std::vector<std::byte>& view() const { return bytes_; }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace zevent
