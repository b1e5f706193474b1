#include <deque>
#include <utility>
#include <vector>

#include "driver/alignment.hpp"
#include "driver/allocation.hpp"
#include "driver/atomic_access.hpp"
#include "driver/fault_injection.hpp"
#include "driver/fork_safety.hpp"
#include "driver/made_with_driver.hpp"
#include "driver/stream.hpp"
#include "driver_entry.hpp"

namespace zevent::driver {
namespace {

bool has_relaxed_limits(const void* chain) {
  const auto* relaxed = find_in_chain<ze_relaxed_allocation_limits_ext_desc_t>(
      chain, ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC);
  return relaxed != nullptr &&
         (relaxed->flags & ZE_RELAXED_ALLOCATION_LIMITS_EXT_FLAG_MAX_SIZE) != 0;
}

struct allocation_request {
  ze_memory_type_t type;
  device* on;
  size_t bytes;
  size_t alignment;
  bool relaxed;
};

ze_result_t allocate(context& owner, const allocation_request& request, void** out) {
  if (request.bytes == 0) return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
  if (!request.relaxed && request.bytes > device::largest_allocation_bytes()) {
    return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
  }
  if (!memory_heap().is_possible_alignment(request.alignment)) {
    return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
  }
  const ze_result_t out_of_memory = request.type == ZE_MEMORY_TYPE_HOST
                                        ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
                                        : ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  if (owner.is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
  const bool struck = request.type == ZE_MEMORY_TYPE_HOST
                          ? fault_strikes_at(fault::out_of_host_memory)
                          : fault_strikes_at(fault::out_of_device_memory);
  if (struck) return out_of_memory;
  allocation_registry& registry = allocation_registry::instance();
  const uint64_t in_use = registry.allocated_bytes();
  if (request.bytes > device::memory_bytes() || in_use > device::memory_bytes() - request.bytes) {
    return out_of_memory;
  }
  auto made = std::make_shared<allocation>();
  void* memory = memory_heap().allocate(request.bytes, request.alignment);
  if (memory == nullptr) return out_of_memory;
  made->owner = ref<context>(&owner);
  made->on = request.on;
  made->type = request.type;
  made->base = static_cast<char*>(memory);
  made->block = made->base;
  made->bytes = request.bytes;
  registry.add(std::move(made));
  *out = memory;
  return ZE_RESULT_SUCCESS;
}

void release(const allocation& freed) {
  atomic_access::instance().forget(freed.base, freed.bytes);
  memory_heap().free(freed.base, freed.bytes);
}

// Memory that is freed once the commands that were submitted before have run.
class deferred_frees {
 public:
  static deferred_frees& instance() {
    static auto* frees = new deferred_frees;
    return *frees;
  }

  void add(std::shared_ptr<allocation> freed) {
    waiting_free next{std::move(freed), {}};
    for (ref<stream>& each : stream::all()) {
      const uint64_t number = each->submitted();
      next.users.emplace_back(std::move(each), number);
    }
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(next));
    release_ready();
  }

  void collect() {
    const std::lock_guard lock(mutex_);
    release_ready();
  }

 private:
  struct waiting_free {
    std::shared_ptr<allocation> freed;
    std::vector<std::pair<ref<stream>, uint64_t>> users;
  };

  void release_ready() {
    while (!waiting_.empty()) {
      for (const auto& [user, number] : waiting_.front().users) {
        if (user->progress()->cell.value.load(std::memory_order_acquire) < number) return;
      }
      release(*waiting_.front().freed);
      waiting_.pop_front();
    }
  }

  fork_safe_mutex mutex_{fork_safe_mutex::rank::outer};  // guards waiting_
  std::deque<waiting_free> waiting_;
};

const made_with_driver frees([] { deferred_frees::instance(); });

ze_result_t free_memory(void* address, ze_driver_memory_free_policy_ext_flags_t policy) {
  deferred_frees::instance().collect();
  auto freed = allocation_registry::instance().remove(address, allocation::origin::heap);
  if (freed == nullptr) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  if ((policy & ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE) != 0) {
    deferred_frees::instance().add(std::move(freed));
    return ZE_RESULT_SUCCESS;
  }
  if ((policy & ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE) != 0) {
    for (const ref<stream>& each : stream::all()) each->synchronize(UINT64_MAX);
  }
  release(*freed);
  return ZE_RESULT_SUCCESS;
}

// A descriptor of the memory that the allocation lies in. It serves zeMemGetIpcHandleFromFile-
// DescriptorExp, not to be mapped: what else lies in that memory is nobody's business.
int descriptor_of(allocation& exported) {
  const auto location =
      exported.block == nullptr ? std::nullopt : memory_heap().locate(exported.block);
  int descriptor = -1;
  if (!location) return descriptor;
  exported.exported.give_descriptor(*location, exported.to_ipc_object(location->offset),
                                    &descriptor);
  return descriptor;
}

}  // namespace

namespace entry {

ze_result_t zeMemAllocHost(ze_context_handle_t hContext, const ze_host_mem_alloc_desc_t* host_desc,
                           size_t size, size_t alignment, void** pptr) {
  return with<context>(hContext, [&](context& owner) {
    return allocate(
        owner,
        {ZE_MEMORY_TYPE_HOST, nullptr, size, alignment, has_relaxed_limits(host_desc->pNext)},
        pptr);
  });
}

ze_result_t zeMemAllocDevice(ze_context_handle_t hContext,
                             const ze_device_mem_alloc_desc_t* device_desc, size_t size,
                             size_t alignment, ze_device_handle_t hDevice, void** pptr) {
  return with<context>(hContext, [&](context& owner) {
    return with<device>(hDevice, [&](device& on) {
      return allocate(
          owner,
          {ZE_MEMORY_TYPE_DEVICE, &on, size, alignment, has_relaxed_limits(device_desc->pNext)},
          pptr);
    });
  });
}

ze_result_t zeMemAllocShared(ze_context_handle_t hContext,
                             const ze_device_mem_alloc_desc_t* device_desc,
                             const ze_host_mem_alloc_desc_t* host_desc, size_t size,
                             size_t alignment, ze_device_handle_t hDevice, void** pptr) {
  return with<context>(hContext, [&](context& owner) {
    // Without a device the allocation belongs to all of them.
    auto* on = try_from_handle<device>(hDevice);
    if (hDevice != nullptr && on == nullptr) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    const bool relaxed =
        has_relaxed_limits(device_desc->pNext) || has_relaxed_limits(host_desc->pNext);
    return allocate(owner, {ZE_MEMORY_TYPE_SHARED, on, size, alignment, relaxed}, pptr);
  });
}

ze_result_t zeMemFree(ze_context_handle_t hContext, void* ptr) {
  return with<context>(hContext, [&](context&) { return free_memory(ptr, 0); });
}

ze_result_t zeMemFreeExt(ze_context_handle_t hContext,
                         const ze_memory_free_ext_desc_t* pMemFreeDesc, void* ptr) {
  return with<context>(hContext,
                       [&](context&) { return free_memory(ptr, pMemFreeDesc->freePolicy); });
}

ze_result_t zeMemGetAllocProperties(ze_context_handle_t hContext, const void* ptr,
                                    ze_memory_allocation_properties_t* pMemAllocProperties,
                                    ze_device_handle_t* phDevice) {
  return with<context>(hContext, [&](context&) {
    const auto found = allocation_registry::instance().find(ptr);
    pMemAllocProperties->type = found ? found->type : ZE_MEMORY_TYPE_UNKNOWN;
    pMemAllocProperties->id = found ? found->id : 0;
    pMemAllocProperties->pageSize = found ? page_bytes : 0;
    if (phDevice != nullptr) {
      *phDevice = to_handle<ze_device_handle_t>(found ? found->on : nullptr);
    }
    if (auto* wanted = find_in_chain<ze_external_memory_export_fd_t>(
            pMemAllocProperties->pNext, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD)) {
      wanted->fd = found ? descriptor_of(*found) : -1;
    }
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeMemGetAddressRange(ze_context_handle_t hContext, const void* ptr, void** pBase,
                                 size_t* pSize) {
  return with<context>(hContext, [&](context&) {
    const auto found = allocation_registry::instance().find(ptr);
    if (!found) return ZE_RESULT_ERROR_ADDRESS_NOT_FOUND;
    if (pBase != nullptr) *pBase = found->base;
    if (pSize != nullptr) *pSize = found->bytes;
    return ZE_RESULT_SUCCESS;
  });
}

// All memory is always resident.
ze_result_t zeContextMakeMemoryResident(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                        void*, size_t) {
  return with<context>(hContext, [&](context&) {
    return with<device>(hDevice, [](device&) { return ZE_RESULT_SUCCESS; });
  });
}

ze_result_t zeContextEvictMemory(ze_context_handle_t hContext, ze_device_handle_t hDevice, void*,
                                 size_t) {
  return with<context>(hContext, [&](context&) {
    return with<device>(hDevice, [](device&) { return ZE_RESULT_SUCCESS; });
  });
}

}  // namespace entry
}  // namespace zevent::driver
