#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace zevent {

static_assert(std::endian::native == std::endian::little,
              "files are little-endian and are read by copying");

// Reads numbers and runs of bytes from memory that may hold anything. A read past the end gives
// zeros and makes the reader fail for good: a caller may read several fields and ask ok() once.
class untrusted_reader {
 public:
  explicit untrusted_reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  bool at_end() const { return offset_ == bytes_.size(); }
  uint64_t remaining() const { return bytes_.size() - offset_; }

  template <std::integral T>
  T number() {
    T value{};
    const auto raw = take(sizeof(T));
    if (ok_) std::memcpy(&value, raw.data(), sizeof(T));
    return value;
  }

  std::span<const std::byte> take(uint64_t count) {
    if (!ok_ || count > remaining()) {
      ok_ = false;
      return {};
    }
    const auto run = bytes_.subspan(offset_, static_cast<size_t>(count));
    offset_ += static_cast<size_t>(count);
    return run;
  }

  // LEB128, at most 10 bytes.
  uint64_t varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto next = number<uint8_t>();
      if (!ok_ || (shift == 63 && next > 1)) break;
      value |= static_cast<uint64_t>(next & 0x7f) << shift;
      if ((next & 0x80) == 0) return value;
    }
    ok_ = false;
    return 0;
  }

  // A varint length, then that many bytes.
  std::string_view text() {
    const auto run = take(varint());
    return {reinterpret_cast<const char*>(run.data()), run.size()};
  }

 private:
  std::span<const std::byte> bytes_;
  size_t offset_ = 0;
  bool ok_ = true;
};

}  // namespace zevent
