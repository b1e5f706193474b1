#include <utility>

#include "driver/allocation.hpp"
#include "driver_entry.hpp"

namespace zevent::driver::entry {

ze_result_t zeMemGetIpcHandle(ze_context_handle_t hContext, const void* ptr,
                              ze_ipc_mem_handle_t* pIpcHandle) {
  return with<context>(hContext, [&](context&) {
    const auto found = allocation_registry::instance().find(ptr);
    if (!found || found->from != allocation::origin::heap) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    const auto location = memory_heap().locate(found->base);
    if (!location) return ZE_RESULT_ERROR_UNKNOWN;
    ipc_handle handle{};
    const ze_result_t result =
        found->exported.make_handle(location->descriptor,
                                    {.kind = ipc_kind::memory,
                                     .flags = static_cast<uint32_t>(found->type),
                                     .offset = location->offset,
                                     .bytes = found->bytes,
                                     .detail = 0},
                                    &handle);
    if (result == ZE_RESULT_SUCCESS) store_ipc_handle(handle, pIpcHandle);
    return result;
  });
}

ze_result_t zeMemPutIpcHandle(ze_context_handle_t hContext, ze_ipc_mem_handle_t handle) {
  return with<context>(hContext, [&](context&) {
    return ipc_export::put(load_ipc_handle(handle)) ? ZE_RESULT_SUCCESS
                                                    : ZE_RESULT_ERROR_INVALID_ARGUMENT;
  });
}

ze_result_t zeMemOpenIpcHandle(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                               ze_ipc_mem_handle_t handle, ze_ipc_memory_flags_t, void** pptr) {
  return with<context>(hContext, [&](context& owner) {
    return with<device>(hDevice, [&](device& on) {
      const ipc_handle given = load_ipc_handle(handle);
      auto opened = std::make_shared<allocation>();
      const ze_result_t result = ipc_import::open(given, ipc_kind::memory, &opened->import);
      if (result != ZE_RESULT_SUCCESS) return result;
      opened->owner = ref<context>(&owner);
      opened->on = &on;
      opened->type = static_cast<ze_memory_type_t>(given.kind >> ipc_flags_shift);
      opened->from = allocation::origin::imported;
      opened->base = static_cast<char*>(opened->import->address());
      opened->bytes = given.bytes;
      *pptr = opened->base;
      allocation_registry::instance().add(std::move(opened));
      return ZE_RESULT_SUCCESS;
    });
  });
}

ze_result_t zeMemCloseIpcHandle(ze_context_handle_t hContext, const void* ptr) {
  return with<context>(hContext, [&](context&) {
    const auto closed = allocation_registry::instance().remove(ptr, allocation::origin::imported);
    return closed ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
  });
}

ze_result_t zeMemGetFileDescriptorFromIpcHandleExp(ze_context_handle_t hContext,
                                                   ze_ipc_mem_handle_t ipcHandle,
                                                   uint64_t* pHandle) {
  return with<context>(hContext, [&](context&) {
    *pHandle = static_cast<uint64_t>(load_ipc_handle(ipcHandle).descriptor);
    return ZE_RESULT_SUCCESS;
  });
}

}  // namespace zevent::driver::entry
