#pragma once

#include <atomic>

#include "base/quirks.hpp"

namespace zevent::driver {

// The quirks of ZEVENT_QUIRKS, read once when the driver is initialised. A text that is not
// understood switches nothing on, and quirks_are_valid() is false: initialisation fails then.
bool quirks_are_valid();

// Relaxed: written once, before there is a handle that anything could be done with.
extern constinit std::atomic<uint32_t> active_quirk_bits;

inline bool has_quirk(quirk which) {
  const uint32_t bits = active_quirk_bits.load(std::memory_order_relaxed);
  return (bits >> static_cast<unsigned>(which) & 1u) != 0;
}

}  // namespace zevent::driver
