#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>

#include "model/command.hpp"

namespace zevent::model {

// Allocations that were freed, by address, until their addresses are given out again. Of those
// only so many are kept.
class freed_memory {
 public:
  void add(const ref<allocation>& freed);
  // Whatever lies in [first, end) is in use again.
  void claim(uint64_t first, uint64_t end);
  // Null when no freed allocation holds the address.
  const allocation* find(uint64_t address) const;

 private:
  static constexpr size_t max_kept = 16384;

  std::map<uint64_t, ref<allocation>> by_start_;        // they do not overlap
  std::deque<std::pair<uint64_t, call_number>> order_;  // start and free, oldest first
};

}  // namespace zevent::model
