#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

namespace zevent::recorder {

// What is known of the handles of one class. Threads that look at different handles seldom meet:
// each shard has a lock of its own, which is held for the look and never across a driver's call.
//
// A driver gives a handle out again as soon as it is destroyed, so that what is known of it is
// taken out before the driver is told to destroy it.
template <typename Handle, typename Value>
class handle_table {
 public:
  void set(Handle handle, Value value) {
    shard& at = shard_of(handle);
    const std::lock_guard lock(at.mutex);
    at.values.insert_or_assign(handle, std::move(value));
  }

  std::optional<Value> take(Handle handle) {
    shard& at = shard_of(handle);
    const std::lock_guard lock(at.mutex);
    const auto found = at.values.find(handle);
    if (found == at.values.end()) return std::nullopt;
    std::optional<Value> taken = std::move(found->second);
    at.values.erase(found);
    return taken;
  }

  // Calls `look` with what is known, the lock being held. False when nothing is.
  template <typename Look>
  bool with(Handle handle, Look&& look) {
    shard& at = shard_of(handle);
    const std::lock_guard lock(at.mutex);
    const auto found = at.values.find(handle);
    if (found == at.values.end()) return false;
    look(found->second);
    return true;
  }

  // One shard after the other, each under its lock.
  template <typename Look>
  void for_each(Look&& look) {
    for (shard& at : shards_) {
      const std::lock_guard lock(at.mutex);
      for (auto& [handle, value] : at.values) look(handle, value);
    }
  }

 private:
  static constexpr size_t shard_count = 64;
  struct alignas(64) shard {
    std::mutex mutex;  // guards values
    std::unordered_map<Handle, Value> values;
  };

  shard& shard_of(Handle handle) {
    const auto bits = reinterpret_cast<uintptr_t>(handle);
    return shards_[(bits >> 4 ^ bits >> 12 ^ bits >> 20) % shard_count];
  }

  std::array<shard, shard_count> shards_;
};

}  // namespace zevent::recorder
