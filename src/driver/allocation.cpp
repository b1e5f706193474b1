#include "driver/allocation.hpp"

#include <iterator>
#include <utility>

#include "driver/made_with_driver.hpp"

namespace zevent::driver {

shared_heap& memory_heap() {
  static auto* heap = new shared_heap("zevent-memory", 4096);
  return *heap;
}

const made_with_driver heap_of_memory([] { memory_heap(); });

ipc_object allocation::to_ipc_object(uint64_t offset) const {
  return {.kind = ipc_kind::memory,
          .flags = static_cast<uint32_t>(type),
          .offset = offset,
          .bytes = bytes,
          .detail = 0};
}

allocation_registry& allocation_registry::instance() {
  static auto* registry = new allocation_registry;
  return *registry;
}

const made_with_driver registry_of_allocations([] { allocation_registry::instance(); });

void allocation_registry::add(std::shared_ptr<allocation> added) {
  added->id = next_id_.fetch_add(1, std::memory_order_relaxed);
  if (added->from == allocation::origin::heap) {
    allocated_bytes_.fetch_add(added->bytes, std::memory_order_relaxed);
  }
  const std::lock_guard lock(mutex_);
  by_base_[reinterpret_cast<uintptr_t>(added->base)] = std::move(added);
}

std::shared_ptr<allocation> allocation_registry::find(const void* address) const {
  const auto value = reinterpret_cast<uintptr_t>(address);
  const std::lock_guard lock(mutex_);
  auto next = by_base_.upper_bound(value);
  if (next == by_base_.begin()) return nullptr;
  const auto& candidate = std::prev(next)->second;
  const bool inside = value - reinterpret_cast<uintptr_t>(candidate->base) < candidate->bytes;
  return inside ? candidate : nullptr;
}

std::shared_ptr<allocation> allocation_registry::remove(const void* base, allocation::origin from) {
  const std::lock_guard lock(mutex_);
  const auto found = by_base_.find(reinterpret_cast<uintptr_t>(base));
  if (found == by_base_.end() || found->second->from != from) return nullptr;
  auto removed = std::move(found->second);
  by_base_.erase(found);
  if (from == allocation::origin::heap) {
    allocated_bytes_.fetch_sub(removed->bytes, std::memory_order_relaxed);
  }
  return removed;
}

}  // namespace zevent::driver
