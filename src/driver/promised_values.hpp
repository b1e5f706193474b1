#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "driver/sync_cell.hpp"

namespace zevent::driver {

// What the commands of a stream will raise, by address: tells whether somebody waits for them. Only
// compared, since what is raised may be gone by then. Kept only under chaos.
class promised_values {
 public:
  using address = const std::atomic<uint64_t>*;

  // A small number for what is asked for. Different things may have the same, and 0 is for what
  // any stream may bring about: memory of the user, and what other processes see.
  static constexpr uint32_t kinds = 64;
  static uint32_t kind_of(address value) {
    constexpr uint64_t spread = 0x9e3779b97f4a7c15;
    if (value == nullptr) return 0;
    return 1 +
           static_cast<uint32_t>((reinterpret_cast<uintptr_t>(value) * spread) >> 32) % (kinds - 1);
  }
  // What the point looks at, null where any stream may bring it about.
  static address subject_of(const wait_point& point) {
    const bool is_ours = point.cell != nullptr && point.scope == futex_scope::process;
    return is_ours ? point.value : nullptr;
  }

  void clear() {
    values_.clear();
    kinds_ = 1;
  }
  void add(address value) {
    values_.push_back(value);
    kinds_ |= uint64_t{1} << kind_of(value);
  }
  // After the last one.
  void sort() {
    std::sort(values_.begin(), values_.end());
    values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
  }

  bool contains(address value) const {
    return std::binary_search(values_.begin(), values_.end(), value);
  }
  bool has_kind(uint32_t kind) const { return (kinds_ >> kind & 1) != 0; }

 private:
  std::vector<address> values_;
  uint64_t kinds_ = 1;
};

}  // namespace zevent::driver
