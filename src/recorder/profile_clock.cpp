#include "recorder/profile_clock.hpp"

#include <algorithm>
#include <cstring>

#include "recorder/profile_driver.hpp"
#include "recorder/thread_log.hpp"

namespace zevent::recorder {
namespace {

// Of several readings the one that took the least time is the best.
constexpr int readings = 5;

}  // namespace

profile_clock::profile_clock(ze_device_handle_t device, uint16_t number)
    : device_(device), number_(number), period_ticks_(estimate_ticks_per_second()) {
  ze_device_properties_t properties{};
  // Of this version the resolution is in cycles a second, of the older one in nanoseconds.
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
  if (next_driver_calls().zeDeviceGetProperties(device, &properties) != ZE_RESULT_SUCCESS) return;
  timestamps_per_second_ = properties.timerResolution;
  valid_bits_ = properties.timestampValidBits;
  kernel_valid_bits_ = properties.kernelTimestampValidBits;
  name_.assign(properties.name, strnlen(properties.name, sizeof(properties.name)));
  // A clock that wraps soon is compared often enough not to lose count.
  if (valid_bits_ < 64 && timestamps_per_second_ != 0) {
    const double wraps_after_s = static_cast<double>(uint64_t{1} << valid_bits_) /
                                 static_cast<double>(timestamps_per_second_);
    const double ticks = static_cast<double>(period_ticks_) * wraps_after_s / 4;
    period_ticks_ = std::min(period_ticks_, static_cast<uint64_t>(ticks) + 1);
    period_ticks_ = std::max<uint64_t>(period_ticks_, 1'000'000);
  }
}

void profile_clock::take_turn(uint64_t now_ticks) {
  uint64_t due = due_.load(std::memory_order_relaxed);
  if (now_ticks < due) return;
  if (due_.compare_exchange_strong(due, now_ticks + period_ticks_, std::memory_order_relaxed))
    compare();
}

void profile_clock::compare() {
  uint64_t best_ticks = 0, best_took = UINT64_MAX, best_timestamp = 0;
  for (int i = 0; i < readings; ++i) {
    uint64_t host = 0, timestamp = 0;
    const uint64_t before = ticks();
    if (next_driver_calls().zeDeviceGetGlobalTimestamps(device_, &host, &timestamp) !=
        ZE_RESULT_SUCCESS)
      return;
    const uint64_t took = ticks() - before;
    if (took >= best_took) continue;
    best_took = took;
    best_ticks = before + took / 2;
    best_timestamp = timestamp;
  }
  const uint64_t bytes = sizeof(recording::device_clock_record) + name_.size();
  std::byte* place = this_thread_log.reserve(bytes, 0);
  if (place == nullptr) return;
  auto* record = reinterpret_cast<recording::device_clock_record*>(place);
  record->header.detail = number_;
  record->header.kind = recording::record_kind::device_clock;
  record->header.flags = 0;
  record->ticks = best_ticks;
  record->uncertainty_ticks = best_took;
  record->timestamp = best_timestamp;
  record->timestamps_per_second = timestamps_per_second_;
  record->valid_bits = valid_bits_;
  record->kernel_valid_bits = kernel_valid_bits_;
  std::memcpy(place + sizeof(*record), name_.data(), name_.size());
  this_thread_log.publish(place, static_cast<uint32_t>(bytes));
}

}  // namespace zevent::recorder
