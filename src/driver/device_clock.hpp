#pragma once

#include <cstdint>

namespace zevent::driver {

// The clock of a device: ticks of the host's clock since the driver started, at a resolution and
// with a number of valid bits that the environment sets, so that wrap-around can be tested.
class device_clock {
 public:
  device_clock();

  uint64_t now_ticks() const { return to_ticks(host_now_ns()); }
  uint64_t to_ticks(uint64_t host_ns) const;

  static uint64_t host_now_ns();

  uint64_t ticks_per_second() const { return ticks_per_second_; }
  double ns_per_tick() const { return 1e9 / static_cast<double>(ticks_per_second_); }
  uint32_t valid_bits() const { return valid_bits_; }
  uint32_t kernel_valid_bits() const { return kernel_valid_bits_; }

  // Truncated to the bits that a timestamp of this kind has.
  uint64_t global_timestamp(uint64_t ticks) const { return ticks & mask(valid_bits_); }
  uint64_t kernel_timestamp(uint64_t ticks) const { return ticks & mask(kernel_valid_bits_); }

 private:
  static uint64_t mask(uint32_t bits) {
    return bits >= 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
  }

  uint64_t scale(uint64_t host_ns) const;

  uint64_t ticks_per_second_;
  uint32_t valid_bits_;
  uint32_t kernel_valid_bits_;
  uint64_t start_ticks_ = 0;  // added to every time; not 0 only by the fault timestamp-wrap
};

}  // namespace zevent::driver
