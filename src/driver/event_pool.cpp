#include "driver/event_pool.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "driver/driver.hpp"
#include "driver/event.hpp"
#include "driver/quirks.hpp"
#include "driver/shared_heap.hpp"
#include "driver/sync_heap.hpp"
#include "driver_entry.hpp"

namespace zevent::driver {
namespace {

constexpr auto timestamp_flags =
    ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP;

constexpr auto known_pool_flags =
    ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_IPC | timestamp_flags;

// A pool of no events has room for one (quirk accepts-pool-without-events).
uint32_t slot_count(uint32_t count) {
  return std::max(count, 1u);
}

size_t slots_bytes(uint32_t count) {
  return sizeof(event_slot) * slot_count(count);
}

}  // namespace

event_pool::event_pool(context& owner, ze_event_pool_flags_t flags, uint32_t count)
    : context_(&owner), flags_(flags), count_(count) {}

ze_result_t event_pool::create(context& owner, const ze_event_pool_desc_t& desc,
                               std::vector<device*> devices, event_pool** out) {
  if ((desc.flags & timestamp_flags) == timestamp_flags &&
      !has_quirk(quirk::accepts_both_timestamp_flags)) {
    return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  }
  const auto* counter = find_in_chain<ze_event_pool_counter_based_exp_desc_t>(
      desc.pNext, ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC);
  const bool shared = (desc.flags & ZE_EVENT_POOL_FLAG_IPC) != 0;
  if (counter != nullptr && shared) return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  constexpr auto all_modes = ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_IMMEDIATE |
                             ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_NON_IMMEDIATE;
  if (counter != nullptr && (counter->flags & ~uint32_t{all_modes}) != 0) {
    return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  }

  auto pool = ref<event_pool>::adopt(new event_pool(owner, desc.flags, desc.count));
  pool->devices_ = std::move(devices);
  if (counter != nullptr) {
    constexpr uint32_t default_mode = ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE;
    pool->counter_flags_ = counter->flags != 0 ? counter->flags : default_mode;
  }
  const size_t bytes = slots_bytes(desc.count);
  void* memory = shared ? sync_heap().allocate(bytes, alignof(event_slot))
                        : ::operator new (bytes, std::align_val_t{alignof(event_slot)});
  if (memory == nullptr) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  pool->slots_ = static_cast<event_slot*>(memory);
  std::uninitialized_default_construct_n(pool->slots_, slot_count(desc.count));
  pool->add_reference();
  *out = pool.get();
  return ZE_RESULT_SUCCESS;
}

ze_result_t event_pool::open(context& owner, ipc_handle handle, event_pool** out) {
  std::unique_ptr<ipc_import> opened;
  const ze_result_t result = ipc_import::open(handle, ipc_kind::event_pool, &opened);
  if (result != ZE_RESULT_SUCCESS) return result;
  const auto count = static_cast<uint32_t>(handle.detail);
  if (handle.bytes != slots_bytes(count)) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  auto* pool = new event_pool(owner, handle.kind >> ipc_flags_shift, count);
  pool->slots_ = static_cast<event_slot*>(opened->address());
  pool->import_ = std::move(opened);
  *out = pool;
  return ZE_RESULT_SUCCESS;
}

event_pool::~event_pool() {
  if (slots_ == nullptr || is_imported()) return;
  if (has_flag(ZE_EVENT_POOL_FLAG_IPC)) {
    export_.withdraw();
    sync_heap().free(slots_, slots_bytes(count_));
  } else {
    ::operator delete (slots_, std::align_val_t{alignof(event_slot)});
  }
}

ze_result_t event_pool::create_event(const ze_event_desc_t& desc, ze_event_handle_t* out) {
  if (desc.index >= slot_count(count_)) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  const auto* mode =
      find_in_chain<ze_event_sync_mode_desc_t>(desc.pNext, ZE_STRUCTURE_TYPE_EVENT_SYNC_MODE_DESC);
  if (mode != nullptr && counter_flags_ == 0 &&
      (mode->syncModeFlags & ZE_EVENT_SYNC_MODE_FLAG_EXTERNAL_INTERRUPT_WAIT) != 0) {
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  }
  *out = to_handle<ze_event_handle_t>(new event(*this, desc.index, desc));
  return ZE_RESULT_SUCCESS;
}

ze_result_t event_pool::export_handle(ipc_handle* out) {
  if (!has_flag(ZE_EVENT_POOL_FLAG_IPC) || is_imported()) {
    return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  }
  const auto location = sync_heap().locate(slots_);
  if (!location) return ZE_RESULT_ERROR_UNKNOWN;
  return export_.make_handle(*location,
                             {.kind = ipc_kind::event_pool,
                              .flags = flags_ & known_pool_flags,
                              .offset = location->offset,
                              .bytes = slots_bytes(count_),
                              .detail = count_,
                              .owner = context_.get(),
                              .lost = &slots_->lost},
                             out);
}

namespace entry {

ze_result_t zeEventPoolCreate(ze_context_handle_t hContext, const ze_event_pool_desc_t* desc,
                              uint32_t numDevices, ze_device_handle_t* phDevices,
                              ze_event_pool_handle_t* phEventPool) {
  return with<context>(hContext, [&](context& owner) -> ze_result_t {
    std::vector<device*> devices;
    for (uint32_t i = 0; i < numDevices; ++i) {
      auto* each = try_from_handle<device>(phDevices[i]);
      if (each == nullptr) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
      devices.push_back(each);
    }
    event_pool* pool = nullptr;
    const ze_result_t result = event_pool::create(owner, *desc, std::move(devices), &pool);
    if (result == ZE_RESULT_SUCCESS) *phEventPool = to_handle<ze_event_pool_handle_t>(pool);
    return result;
  });
}

ze_result_t zeEventPoolDestroy(ze_event_pool_handle_t hEventPool) {
  return with<event_pool>(hEventPool, [](event_pool& pool) {
    pool.destroy_handle();
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeEventCreate(ze_event_pool_handle_t hEventPool, const ze_event_desc_t* desc,
                          ze_event_handle_t* phEvent) {
  return with<event_pool>(hEventPool,
                          [&](event_pool& pool) { return pool.create_event(*desc, phEvent); });
}

ze_result_t zeEventPoolGetIpcHandle(ze_event_pool_handle_t hEventPool,
                                    ze_ipc_event_pool_handle_t* phIpc) {
  return with<event_pool>(hEventPool, [&](event_pool& pool) {
    ipc_handle handle{};
    const ze_result_t result = pool.export_handle(&handle);
    if (result == ZE_RESULT_SUCCESS) store_ipc_handle(handle, phIpc);
    return result;
  });
}

ze_result_t zeEventPoolPutIpcHandle(ze_context_handle_t hContext, ze_ipc_event_pool_handle_t hIpc) {
  return with<context>(hContext, [&](context&) {
    if (has_quirk(quirk::no_event_pool_put_ipc_handle)) return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    return ipc_export::put(load_ipc_handle(hIpc)) ? ZE_RESULT_SUCCESS
                                                  : ZE_RESULT_ERROR_INVALID_ARGUMENT;
  });
}

ze_result_t zeEventPoolOpenIpcHandle(ze_context_handle_t hContext, ze_ipc_event_pool_handle_t hIpc,
                                     ze_event_pool_handle_t* phEventPool) {
  return with<context>(hContext, [&](context& owner) {
    event_pool* pool = nullptr;
    const ze_result_t result = event_pool::open(owner, load_ipc_handle(hIpc), &pool);
    if (result == ZE_RESULT_SUCCESS) *phEventPool = to_handle<ze_event_pool_handle_t>(pool);
    return result;
  });
}

ze_result_t zeEventPoolCloseIpcHandle(ze_event_pool_handle_t hEventPool) {
  return with<event_pool>(hEventPool, [](event_pool& pool) -> ze_result_t {
    if (!pool.is_imported()) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    pool.destroy_handle();
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeEventPoolGetContextHandle(ze_event_pool_handle_t hEventPool,
                                        ze_context_handle_t* phContext) {
  return with<event_pool>(hEventPool, [&](event_pool& pool) {
    *phContext = to_handle<ze_context_handle_t>(&pool.owner());
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeEventPoolGetFlags(ze_event_pool_handle_t hEventPool, ze_event_pool_flags_t* pFlags) {
  return with<event_pool>(hEventPool, [&](event_pool& pool) {
    *pFlags = pool.flags();
    return ZE_RESULT_SUCCESS;
  });
}

}  // namespace entry
}  // namespace zevent::driver
