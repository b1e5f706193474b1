#include "driver/atomic_access.hpp"

#include <iterator>
#include <mutex>

#include "driver/allocation.hpp"
#include "driver/made_with_driver.hpp"
#include "driver_entry.hpp"

namespace zevent::driver {

atomic_access& atomic_access::instance() {
  static auto* only = new atomic_access;
  return *only;
}

const made_with_driver all_attributes([] { atomic_access::instance(); });

// What lies outside of the hole keeps its attributes.
void atomic_access::cut_out(ranges& from, uintptr_t start, uintptr_t end) {
  auto next = from.lower_bound(start);
  if (next != from.begin()) {
    auto& [before, found] = *std::prev(next);
    if (found.end > end) from.emplace(end, found);
    if (found.end > start) found.end = start;
  }
  while (next != from.end() && next->first < end) {
    if (next->second.end > end) from.emplace(end, next->second);
    next = from.erase(next);
  }
}

void atomic_access::set(const device& on, const void* start, size_t bytes,
                        ze_memory_atomic_attr_exp_flags_t attributes) {
  const auto first = reinterpret_cast<uintptr_t>(start);
  const std::lock_guard lock(mutex_);
  ranges& of_device = by_device_[on.index()];
  cut_out(of_device, first, first + bytes);
  if (attributes != 0 && bytes != 0) of_device[first] = {first + bytes, attributes};
}

ze_memory_atomic_attr_exp_flags_t atomic_access::get(const device& on, const void* address) {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  const std::lock_guard lock(mutex_);
  const ranges& of_device = by_device_[on.index()];
  const auto next = of_device.upper_bound(wanted);
  if (next == of_device.begin()) return 0;
  const range& candidate = std::prev(next)->second;
  return wanted < candidate.end ? candidate.attributes : 0;
}

void atomic_access::forget(const void* start, size_t bytes) {
  const auto first = reinterpret_cast<uintptr_t>(start);
  const std::lock_guard lock(mutex_);
  for (auto& [index, of_device] : by_device_) cut_out(of_device, first, first + bytes);
}

namespace {

// Shared memory, and memory that is the program's own.
bool has_atomic_access(const void* address) {
  const auto found = allocation_registry::instance().find(address);
  return !found || found->type == ZE_MEMORY_TYPE_SHARED;
}

}  // namespace

namespace entry {

ze_result_t zeMemSetAtomicAccessAttributeExp(ze_context_handle_t hContext,
                                             ze_device_handle_t hDevice, const void* ptr,
                                             size_t size, ze_memory_atomic_attr_exp_flags_t attr) {
  return with<context>(hContext, [&](context&) {
    return with<device>(hDevice, [&](device& on) {
      if (!has_atomic_access(ptr)) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
      atomic_access::instance().set(on, ptr, size, attr);
      return ZE_RESULT_SUCCESS;
    });
  });
}

ze_result_t zeMemGetAtomicAccessAttributeExp(ze_context_handle_t hContext,
                                             ze_device_handle_t hDevice, const void* ptr, size_t,
                                             ze_memory_atomic_attr_exp_flags_t* pAttr) {
  return with<context>(hContext, [&](context&) {
    return with<device>(hDevice, [&](device& on) {
      if (!has_atomic_access(ptr)) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
      *pAttr = atomic_access::instance().get(on, ptr);
      return ZE_RESULT_SUCCESS;
    });
  });
}

}  // namespace entry
}  // namespace zevent::driver
