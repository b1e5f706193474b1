#include "driver/device_clock.hpp"

#include "base/checked_cast.hpp"
#include "base/environment.hpp"
#include "driver/fault_injection.hpp"
#include "driver/host_clock.hpp"

namespace zevent::driver {

device_clock::device_clock()
    : ticks_per_second_(
          read_environment_number("ZEVENT_TIMER_FREQUENCY", 1'000'000'000, 1000, 1'000'000'000)),
      valid_bits_(checked_cast<uint32_t>(read_environment_number("ZEVENT_TIMER_BITS", 56, 8, 64))),
      kernel_valid_bits_(
          checked_cast<uint32_t>(read_environment_number("ZEVENT_KERNEL_TIMER_BITS", 56, 8, 64))) {
  if (!has_fault(fault::timestamp_wrap)) return;
  const uint64_t until_wrap_ns = active_faults().number(fault::timestamp_wrap) * 1'000'000;
  const uint64_t ahead = scale(host_now_ns() + until_wrap_ns);
  start_ticks_ = 0 - ahead;  // the shorter of the two kinds wraps with the longer
}

uint64_t device_clock::host_now_ns() {
  return host_clock::now_ns();
}

uint64_t device_clock::to_ticks(uint64_t host_ns) const {
  return scale(host_ns) + start_ticks_;
}

uint64_t device_clock::scale(uint64_t host_ns) const {
  if (ticks_per_second_ == 1'000'000'000) return host_ns;
  const uint64_t seconds = host_ns / 1'000'000'000u;
  const uint64_t rest_ns = host_ns % 1'000'000'000u;
  return seconds * ticks_per_second_ + rest_ns * ticks_per_second_ / 1'000'000'000u;
}

}  // namespace zevent::driver
