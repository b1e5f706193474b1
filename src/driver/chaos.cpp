#include "driver/chaos.hpp"

#include <unistd.h>

#include "base/environment.hpp"
#include "driver/made_with_driver.hpp"

namespace zevent::driver {
namespace {

// Of a stream. Later ones sleep more seldom: a program of a million commands is to end, too.
constexpr uint64_t first_commands = 1000;

constexpr uint64_t first_dwells = 16;
constexpr useconds_t dwell_us = 50;
// A call waits for a call of another thread: up to so many times dwell_us, and no more once so many
// waits on the object were without one.
constexpr int max_waits_for_call = 100;
constexpr int max_calls_missed = 8;

struct chaos_setting {
  bool on = false;
  bool waits_forever = false;
  uint64_t seed = 0;

  chaos_setting() {
    on = read_environment("ZEVENT_CHAOS").has_value();
    if (on) seed = read_environment_number("ZEVENT_CHAOS", 1, 0, UINT64_MAX);
    waits_forever = read_environment("ZEVENT_CHAOS_PATIENCE") == "forever";
  }
  static const chaos_setting& instance() {
    static const auto* only = new chaos_setting;
    return *only;
  }
};

// The finaliser of SplitMix64: every bit of the input changes half of the output's.
uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

const made_with_driver setting([] { chaos_setting::instance(); });

}  // namespace

bool has_chaos() {
  return chaos_setting::instance().on;
}

bool chaos_waits_forever() {
  return chaos_setting::instance().waits_forever;
}

bool has_hasty_chaos() {
  return has_chaos() && chaos_setting::instance().seed % 20 == 0;
}

bool has_contrary_chaos() {
  return has_chaos() && chaos_setting::instance().seed % 40 == 19;
}

uint64_t chaos_choice(chaos_purpose purpose, uint64_t stream, uint64_t number, uint64_t bound) {
  const uint64_t seed = chaos_setting::instance().seed;
  return mix(mix(mix(seed) ^ stream) ^ number << 3 ^ static_cast<uint64_t>(purpose)) % bound;
}

void chaos_delay(chaos_purpose purpose, uint64_t stream, uint64_t number, uint64_t one_in,
                 uint64_t most_us) {
  if (!has_chaos()) return;
  if (number >= first_commands) one_in *= 16;
  const uint64_t choice = chaos_choice(purpose, stream, number, one_in * most_us);
  if (choice < most_us) usleep(static_cast<useconds_t>(choice));
}

void chaos_dwell::stay() {
  if (!has_chaos()) return;
  const uint64_t number = calls_.fetch_add(1, std::memory_order_relaxed);
  const int self = gettid();
  int first = 0;
  if (!first_thread_.compare_exchange_strong(first, self, std::memory_order_relaxed) &&
      first != self)
    is_shared_.store(true, std::memory_order_relaxed);
  inside_.fetch_add(1, std::memory_order_relaxed);
  if (is_shared_.load(std::memory_order_relaxed)) {
    wait_for_another_call();
  } else if (number < first_dwells) {
    usleep(dwell_us);
  }
  inside_.fetch_sub(1, std::memory_order_relaxed);
}

// Where the program has a lock around its calls, no other call comes: hence the limits.
void chaos_dwell::wait_for_another_call() {
  if (missed_.load(std::memory_order_relaxed) >= max_calls_missed) {
    usleep(dwell_us);
    return;
  }
  for (int i = 0; i < max_waits_for_call; ++i) {
    if (inside_.load(std::memory_order_relaxed) > 1) return;
    usleep(dwell_us);
  }
  missed_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace zevent::driver
