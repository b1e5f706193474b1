#pragma once

#include <level_zero/ze_api.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>

#include "driver/context.hpp"
#include "driver/fork_safety.hpp"
#include "driver/ipc.hpp"
#include "driver/shared_heap.hpp"

namespace zevent::driver {

// Holds host, device and shared allocations alike: they are all memory of this machine.
shared_heap& memory_heap();

// A piece of memory that the driver knows.
struct allocation {
  enum class origin { heap, imported, mapped, users };

  ref<context> owner;
  device* on = nullptr;  // null: host memory
  ze_memory_type_t type = ZE_MEMORY_TYPE_UNKNOWN;
  origin from = origin::heap;
  char* base = nullptr;
  char* block = nullptr;  // where its bytes lie in the memory heap; null: they do not
  size_t bytes = 0;
  uint64_t id = 0;
  ipc_export exported;
  std::unique_ptr<ipc_import> import;

  // What a handle for other processes says about it.
  ipc_object to_ipc_object(uint64_t offset) const;
};

// All allocations, found by any address in them.
class allocation_registry {
 public:
  static allocation_registry& instance();

  void add(std::shared_ptr<allocation> added);
  // The allocation that the address lies in; null for memory the driver does not know.
  std::shared_ptr<allocation> find(const void* address) const;
  // Takes it out; null unless the address is the start of an allocation of that origin.
  std::shared_ptr<allocation> remove(const void* base, allocation::origin from);

  uint64_t allocated_bytes() const { return allocated_bytes_.load(std::memory_order_relaxed); }

 private:
  mutable fork_safe_mutex mutex_{fork_safe_mutex::rank::inner};  // guards by_base_
  std::map<uintptr_t, std::shared_ptr<allocation>> by_base_;
  std::atomic<uint64_t> allocated_bytes_{0};  // of the heap; relaxed: only reported
  std::atomic<uint64_t> next_id_{1};
};

}  // namespace zevent::driver
