#include "driver/chaos.hpp"

#include <unistd.h>

#include <atomic>

#include "base/environment.hpp"
#include "driver/made_with_driver.hpp"

namespace zevent::driver {
namespace {

// How long a stream waits for further commands before it completes those it holds: a program
// appends its next command within this time, or it waits for the ones it has.
constexpr uint64_t longest_linger_ns = 3'000'000;

// How long whoever was woken early has for looking at what is not there yet.
constexpr uint64_t shortest_head_start_ns = 500'000;
constexpr uint64_t longest_head_start_ns = 2'000'000;

constexpr size_t widest_window = 64;

struct chaos_setting {
  bool on = false;
  uint64_t seed = 0;

  chaos_setting() {
    on = read_environment("ZEVENT_CHAOS").has_value();
    if (on) seed = read_environment_number("ZEVENT_CHAOS", 1, 0, UINT64_MAX);
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

// Relaxed: a stream that sees a waiter late lingers a little longer.
constinit std::atomic<int> waiting_hosts{0};

// Release/acquire: whoever sees a wait end has it behind them.
constinit std::atomic<uint64_t> ended_waits{0};

// Relaxed: a stream looks for its own wake-ups only.
constinit std::atomic<uint64_t> wake_ups{0};

}  // namespace

bool has_chaos() {
  return chaos_setting::instance().on;
}

uint64_t chaos_choice(chaos_purpose purpose, uint64_t stream, uint64_t number, uint64_t bound) {
  const uint64_t seed = chaos_setting::instance().seed;
  return mix(mix(mix(seed) ^ stream) ^ number << 3 ^ static_cast<uint64_t>(purpose)) % bound;
}

void chaos_delay(chaos_purpose purpose, uint64_t stream, uint64_t number, uint64_t one_in,
                 uint64_t most_us) {
  if (!has_chaos()) return;
  const uint64_t choice = chaos_choice(purpose, stream, number, one_in * most_us);
  if (choice < most_us) usleep(static_cast<useconds_t>(choice));
}

chaos_completion::chaos_completion(uint64_t stream)
    : stream_(stream), window_(size_t{8} << chaos_choice(chaos_purpose::window, stream, 0, 4)) {
  static_assert(size_t{8} << 3 == widest_window);
}

size_t chaos_completion::completes_next(size_t in_flight) {
  const uint64_t choice =
      chaos_choice(chaos_purpose::next_completion, stream_, completions_++, in_flight * 32);
  return choice < in_flight ? choice : in_flight - 1;  // nearly always the newest
}

uint64_t chaos_completion::lingers_ns() {
  return longest_linger_ns;
}

uint64_t chaos_completion::head_start_ns() {
  return shortest_head_start_ns + chaos_choice(chaos_purpose::head_start, stream_, completions_,
                                               longest_head_start_ns - shortest_head_start_ns);
}

void count_waiting_host(int change) {
  waiting_hosts.fetch_add(change, std::memory_order_relaxed);
  if (change < 0) ended_waits.fetch_add(1, std::memory_order_release);
}

uint64_t ended_host_waits() {
  return ended_waits.load(std::memory_order_acquire);
}

void count_host_wake_up() {
  wake_ups.fetch_add(1, std::memory_order_relaxed);
}

uint64_t host_wake_ups() {
  return wake_ups.load(std::memory_order_relaxed);
}

bool has_waiting_host() {
  return waiting_hosts.load(std::memory_order_relaxed) > 0;
}

}  // namespace zevent::driver
