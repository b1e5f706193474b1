#include "driver/virtual_memory.hpp"

#include <sys/mman.h>

#include <iterator>
#include <memory>
#include <utility>

#include "driver/allocation.hpp"
#include "driver/made_with_driver.hpp"
#include "driver_entry.hpp"

namespace zevent::driver {
namespace {

constexpr int reserved_flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

int protection_of(ze_memory_access_attribute_t access) {
  switch (access) {
    case ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE:
      return PROT_READ | PROT_WRITE;
    case ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY:
      return PROT_READ;
    default:
      return PROT_NONE;
  }
}

bool is_page_multiple(uintptr_t value) {
  return value % virtual_page_bytes == 0;
}

void* pointer(uintptr_t address) {
  return reinterpret_cast<void*>(address);
}

}  // namespace

virtual_memory& virtual_memory::instance() {
  static auto* only = new virtual_memory;
  return *only;
}

const made_with_driver only_one([] { virtual_memory::instance(); });

virtual_memory::reservation* virtual_memory::find(uintptr_t address, size_t bytes) {
  auto next = reservations_.upper_bound(address);
  if (next == reservations_.begin()) return nullptr;
  auto& [base, candidate] = *std::prev(next);
  const size_t offset = address - base;
  const bool inside = offset <= candidate.bytes && bytes <= candidate.bytes - offset;
  return inside ? &candidate : nullptr;
}

ze_result_t virtual_memory::reserve(const void* wish, size_t bytes, void** out) {
  if (!is_page_multiple(bytes)) return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
  void* const reserved = mmap(const_cast<void*>(wish), bytes, PROT_NONE, reserved_flags, -1, 0);
  if (reserved == MAP_FAILED) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  const std::lock_guard lock(mutex_);
  reservations_[reinterpret_cast<uintptr_t>(reserved)] = {bytes, {}};
  *out = reserved;
  return ZE_RESULT_SUCCESS;
}

ze_result_t virtual_memory::release(const void* address, size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = reservations_.find(reinterpret_cast<uintptr_t>(address));
  if (found == reservations_.end()) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  if (found->second.bytes != bytes) return ZE_RESULT_ERROR_INVALID_SIZE;
  for (const auto& [base, each] : found->second.mappings) {
    allocation_registry::instance().remove(pointer(base), allocation::origin::mapped);
  }
  munmap(const_cast<void*>(address), bytes);
  reservations_.erase(found);
  return ZE_RESULT_SUCCESS;
}

ze_result_t virtual_memory::map(context& owner, const void* address, size_t bytes,
                                physical_memory& memory, size_t offset,
                                ze_memory_access_attribute_t access) {
  const auto base = reinterpret_cast<uintptr_t>(address);
  if (!is_page_multiple(base) || !is_page_multiple(offset)) {
    return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
  }
  if (!is_page_multiple(bytes) || offset > memory.bytes() || bytes > memory.bytes() - offset) {
    return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
  }
  const std::lock_guard lock(mutex_);
  reservation* home = find(base, bytes);
  if (home == nullptr) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  if (!memory.map_at(pointer(base), bytes, offset, protection_of(access))) {
    return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  }
  home->mappings[base] = {bytes, ref<physical_memory>(&memory), access};
  auto known = std::make_shared<allocation>();
  known->owner = ref<context>(&owner);
  known->on = memory.is_on_host() ? nullptr : &memory.owner_device();
  known->type = memory.is_on_host() ? ZE_MEMORY_TYPE_HOST : ZE_MEMORY_TYPE_DEVICE;
  known->from = allocation::origin::mapped;
  known->base = static_cast<char*>(pointer(base));
  known->block = memory.block() + offset;
  known->bytes = bytes;
  allocation_registry::instance().add(std::move(known));
  return ZE_RESULT_SUCCESS;
}

ze_result_t virtual_memory::unmap(const void* address, size_t bytes) {
  const auto base = reinterpret_cast<uintptr_t>(address);
  const std::lock_guard lock(mutex_);
  reservation* home = find(base, bytes);
  if (home == nullptr) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  const auto found = home->mappings.find(base);
  // Drivers let a range be unmapped that is not mapped, or not any more.
  if (found == home->mappings.end()) return ZE_RESULT_SUCCESS;
  if (found->second.bytes != bytes) return ZE_RESULT_ERROR_INVALID_SIZE;
  if (mmap(pointer(base), bytes, PROT_NONE, reserved_flags | MAP_FIXED, -1, 0) == MAP_FAILED)
    return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  allocation_registry::instance().remove(address, allocation::origin::mapped);
  home->mappings.erase(found);
  return ZE_RESULT_SUCCESS;
}

ze_result_t virtual_memory::set_access(const void* address, size_t bytes,
                                       ze_memory_access_attribute_t access) {
  const auto base = reinterpret_cast<uintptr_t>(address);
  const std::lock_guard lock(mutex_);
  reservation* home = find(base, bytes);
  if (home == nullptr) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  for (auto& [start, each] : home->mappings) {
    if (start < base || start + each.bytes > base + bytes) continue;
    if (mprotect(pointer(start), each.bytes, protection_of(access)) != 0) {
      return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    each.access = access;
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t virtual_memory::get_access(const void* address, size_t bytes,
                                       ze_memory_access_attribute_t* access, size_t* out_bytes) {
  const auto base = reinterpret_cast<uintptr_t>(address);
  const std::lock_guard lock(mutex_);
  const reservation* home = find(base, bytes);
  if (home == nullptr) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  *access = ZE_MEMORY_ACCESS_ATTRIBUTE_NONE;
  *out_bytes = bytes;
  for (const auto& [start, each] : home->mappings) {
    if (base < start || base >= start + each.bytes) continue;
    *access = each.access;
    *out_bytes = start + each.bytes - base;
  }
  return ZE_RESULT_SUCCESS;
}

namespace entry {

ze_result_t zeVirtualMemReserve(ze_context_handle_t hContext, const void* pStart, size_t size,
                                void** pptr) {
  return with<context>(
      hContext, [&](context&) { return virtual_memory::instance().reserve(pStart, size, pptr); });
}

ze_result_t zeVirtualMemFree(ze_context_handle_t hContext, const void* ptr, size_t size) {
  return with<context>(hContext,
                       [&](context&) { return virtual_memory::instance().release(ptr, size); });
}

ze_result_t zeVirtualMemQueryPageSize(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                      size_t, size_t* pagesize) {
  return with<context>(hContext, [&](context&) {
    return with<device>(hDevice, [&](device&) {
      *pagesize = virtual_page_bytes;
      return ZE_RESULT_SUCCESS;
    });
  });
}

ze_result_t zeVirtualMemMap(ze_context_handle_t hContext, const void* ptr, size_t size,
                            ze_physical_mem_handle_t hPhysicalMemory, size_t offset,
                            ze_memory_access_attribute_t access) {
  return with<context>(hContext, [&](context& owner) {
    return with<physical_memory>(hPhysicalMemory, [&](physical_memory& memory) {
      return virtual_memory::instance().map(owner, ptr, size, memory, offset, access);
    });
  });
}

ze_result_t zeVirtualMemUnmap(ze_context_handle_t hContext, const void* ptr, size_t size) {
  return with<context>(hContext,
                       [&](context&) { return virtual_memory::instance().unmap(ptr, size); });
}

ze_result_t zeVirtualMemSetAccessAttribute(ze_context_handle_t hContext, const void* ptr,
                                           size_t size, ze_memory_access_attribute_t access) {
  return with<context>(
      hContext, [&](context&) { return virtual_memory::instance().set_access(ptr, size, access); });
}

ze_result_t zeVirtualMemGetAccessAttribute(ze_context_handle_t hContext, const void* ptr,
                                           size_t size, ze_memory_access_attribute_t* access,
                                           size_t* outSize) {
  return with<context>(hContext, [&](context&) {
    return virtual_memory::instance().get_access(ptr, size, access, outSize);
  });
}

}  // namespace entry
}  // namespace zevent::driver
