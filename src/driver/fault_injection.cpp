#include "driver/fault_injection.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>

#include "base/environment.hpp"
#include "driver/made_with_driver.hpp"

namespace zevent::driver {
namespace {

struct injection {
  fault_set faults;
  bool valid = true;
  std::array<std::atomic<uint64_t>, fault_count> occasions{};  // relaxed: only counted

  injection() {
    const auto text = read_environment("ZEVENT_FAULTS");
    if (!text) return;
    if (const auto parsed = parse_faults(*text)) {
      faults = *parsed;
    } else {
      valid = false;
      std::fprintf(stderr, "zevent: ZEVENT_FAULTS: %s\n", parsed.error().message.c_str());
    }
  }

  static injection& instance() {
    static auto* only = new injection;
    return *only;
  }
};

const made_with_driver faults([] { injection::instance(); });

// The number of this occasion, counted from 1; 0 when the fault is off.
uint64_t count_occasion(fault which) {
  injection& all = injection::instance();
  if (!all.faults.has(which)) return 0;
  return all.occasions[static_cast<size_t>(which)].fetch_add(1, std::memory_order_relaxed) + 1;
}

// Tells the one who counts strikes, once, that a fault struck.
void note_strike(fault which) {
  static std::atomic<bool> noted{false};  // relaxed: only one of those who strike at once is needed
  if (noted.exchange(true, std::memory_order_relaxed)) return;
  const auto path = read_environment("ZEVENT_FAULT_NOTE");
  if (!path) return;
  const int file = open(path->c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) return;
  const auto name = fault_descriptions()[static_cast<size_t>(which)].name;
  // Nothing can be done about a note that is not taken.
  [[maybe_unused]] const auto written = write(file, name.data(), name.size());
  close(file);
}

bool strikes(fault which, bool now) {
  if (now) note_strike(which);
  return now;
}

}  // namespace

const fault_set& active_faults() {
  return injection::instance().faults;
}

bool faults_are_valid() {
  return injection::instance().valid;
}

bool fault_strikes_at(fault which) {
  const uint64_t occasion = count_occasion(which);
  return strikes(which, occasion != 0 && occasion >= active_faults().number(which));
}

bool fault_strikes_after(fault which) {
  const uint64_t occasion = count_occasion(which);
  return strikes(which, occasion != 0 && occasion > active_faults().number(which));
}

}  // namespace zevent::driver
