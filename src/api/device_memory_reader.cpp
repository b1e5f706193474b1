#include "api/device_memory_reader.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace zevent::api {
namespace {

constexpr uint64_t staging_bytes = uint64_t{1} << 20;
constexpr uint64_t max_copy_ns = 500'000'000;
constexpr uint32_t max_groups = 32;

struct engine {
  uint32_t ordinal = 0, index = 0;
};

// An engine that only copies, or else the last one that can: commands of the program keep the first
// ones busy.
engine engine_for_copies(const memory_copy_calls& calls, ze_device_handle_t device) {
  std::array<ze_command_queue_group_properties_t, max_groups> groups{};
  for (auto& each : groups) each.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
  uint32_t count = max_groups;
  if (calls.zeDeviceGetCommandQueueGroupProperties(device, &count, groups.data()) !=
      ZE_RESULT_SUCCESS)
    return {};
  engine found;
  bool has_any = false, only_copies = false;
  for (uint32_t i = 0; i < std::min(count, max_groups); ++i) {
    const auto flags = groups[i].flags;
    if ((flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY) == 0 || groups[i].numQueues == 0)
      continue;
    const bool computes = (flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE) != 0;
    if (has_any && (computes || only_copies)) continue;
    found = {i, groups[i].numQueues - 1};
    has_any = true;
    only_copies = !computes;
  }
  return found;
}

}  // namespace

bool memory_copy_calls::complete() const {
// NOLINTNEXTLINE(bugprone-macro-parentheses): it continues a condition
#define ZEVENT_IS_THERE(name) &&name != nullptr
  return true ZEVENT_MEMORY_COPY_CALLS(ZEVENT_IS_THERE);
#undef ZEVENT_IS_THERE
}

bool device_memory_reader::read(ze_context_handle_t context, ze_device_handle_t device,
                                uint64_t address, std::span<std::byte> target) {
  if (!calls_.complete() || context == nullptr || device == nullptr) return false;
  copier& own = copier_for(context, device);
  if (own.is_busy && wait_for(own, 0)) own.is_busy = false;
  if (own.is_busy || own.is_broken) return false;
  while (!target.empty()) {
    const auto piece = target.first(std::min<size_t>(target.size(), staging_bytes));
    if (!copy(own, address, piece)) return false;
    target = target.subspan(piece.size());
    address += piece.size();
  }
  return true;
}

bool device_memory_reader::copy(copier& with, uint64_t address, std::span<std::byte> target) {
  if (calls_.zeCommandListAppendMemoryCopy(with.list, with.staging,
                                           reinterpret_cast<const void*>(address), target.size(),
                                           nullptr, 0, nullptr) != ZE_RESULT_SUCCESS)
    return false;
  with.is_busy = true;
  if (!wait_for(with, max_copy_ns)) return false;
  with.is_busy = false;
  std::memcpy(target.data(), with.staging, target.size());
  return true;
}

bool device_memory_reader::wait_for(copier& with, uint64_t timeout_ns) {
  const auto result = calls_.zeCommandListHostSynchronize(with.list, timeout_ns);
  if (result != ZE_RESULT_SUCCESS && result != ZE_RESULT_NOT_READY) with.is_broken = true;
  return result == ZE_RESULT_SUCCESS;
}

device_memory_reader::copier& device_memory_reader::copier_for(ze_context_handle_t context,
                                                               ze_device_handle_t device) {
  const auto [found, is_new] = copiers_.try_emplace({context, device});
  if (is_new) create(found->second, context, device);
  return found->second;
}

void device_memory_reader::create(copier& made, ze_context_handle_t context,
                                  ze_device_handle_t device) {
  const auto [ordinal, index] = engine_for_copies(calls_, device);
  ze_command_queue_desc_t queue{};
  queue.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  queue.ordinal = ordinal;
  queue.index = index;
  queue.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
  ze_host_mem_alloc_desc_t host{};
  host.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC;
  constexpr size_t alignment = 64;
  made.is_broken = calls_.zeCommandListCreateImmediate(context, device, &queue, &made.list) !=
                       ZE_RESULT_SUCCESS ||
                   calls_.zeMemAllocHost(context, &host, staging_bytes, alignment, &made.staging) !=
                       ZE_RESULT_SUCCESS;
}

void device_memory_reader::release(ze_context_handle_t context) {
  for (auto each = copiers_.begin(); each != copiers_.end();) {
    copier& own = each->second;
    if (each->first.first != context) {
      ++each;
      continue;
    }
    // What a copy is still under way in stays where it is.
    if (!own.is_busy || wait_for(own, 0)) {
      if (own.list != nullptr) calls_.zeCommandListDestroy(own.list);
      if (own.staging != nullptr) calls_.zeMemFree(context, own.staging);
    }
    each = copiers_.erase(each);
  }
}

}  // namespace zevent::api
