#include "driver/host_clock.hpp"

#include <unistd.h>

#include <algorithm>
#include <ctime>

namespace zevent::driver {
namespace {

uint64_t monotonic_now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

uint64_t host_clock::now_ns() {
  return is_stopped() ? stopped_at_ns_.load() : monotonic_now_ns();
}

void host_clock::sleep_ns(uint64_t time_ns) {
  if (is_stopped()) return advance(time_ns);
  constexpr uint64_t longest_nap_ns = 500'000'000;  // usleep() takes less than a second
  for (uint64_t left_ns = time_ns; left_ns > 0;) {
    const uint64_t nap_ns = std::min(left_ns, longest_nap_ns);
    usleep(static_cast<useconds_t>(nap_ns / 1000));
    left_ns -= nap_ns;
  }
}

void host_clock::stop() {
  stopped_at_ns_ = monotonic_now_ns();
  is_stopped_ = true;
}

void host_clock::advance(uint64_t time_ns) {
  stopped_at_ns_ += time_ns;
}

void host_clock::count_look() {
  if (is_stopped()) ++looks_;
}

}  // namespace zevent::driver
