#include "driver/fault_injection.hpp"

#include <array>
#include <atomic>
#include <cstdio>

#include "base/environment.hpp"
#include "driver/made_with_driver.hpp"
#include "driver/trial_note.hpp"

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

bool strikes(fault which, bool now) {
  static std::atomic<bool> noted{false};  // relaxed: only one of those who strike at once is needed
  if (now && !noted.exchange(true, std::memory_order_relaxed)) {
    note_for_trial(fault_descriptions()[static_cast<size_t>(which)].name);
  }
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
