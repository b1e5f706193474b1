#include <utility>

#include "driver/allocation.hpp"
#include "driver/physical_memory.hpp"
#include "driver_entry.hpp"

namespace zevent::driver {
namespace {

ze_result_t make_handle(const void* address, ipc_handle* out) {
  if (const auto physical = physical_memory::find(address)) return physical->make_ipc_handle(out);
  const auto found = allocation_registry::instance().find(address);
  if (!found || found->block == nullptr) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  const auto location = memory_heap().locate(found->block);
  if (!location) return ZE_RESULT_ERROR_UNKNOWN;
  return found->exported.make_handle(*location, found->to_ipc_object(location->offset), out);
}

}  // namespace

namespace entry {

ze_result_t zeMemGetIpcHandle(ze_context_handle_t hContext, const void* ptr,
                              ze_ipc_mem_handle_t* pIpcHandle) {
  return with<context>(hContext, [&](context&) {
    ipc_handle handle{};
    const ze_result_t result = make_handle(ptr, &handle);
    if (result == ZE_RESULT_SUCCESS) store_ipc_handle(handle, pIpcHandle);
    return result;
  });
}

ze_result_t zeMemGetIpcHandleWithProperties(ze_context_handle_t hContext, const void* ptr,
                                            void* pNext, ze_ipc_mem_handle_t* pIpcHandle) {
  const auto* wanted = find_in_chain<ze_ipc_mem_handle_type_ext_desc_t>(
      pNext, ZE_STRUCTURE_TYPE_IPC_MEM_HANDLE_TYPE_EXT_DESC);
  constexpr ze_ipc_mem_handle_type_flags_t known = ZE_IPC_MEM_HANDLE_TYPE_FLAG_DEFAULT;
  if (wanted != nullptr && (wanted->typeFlags & ~known) != 0) {
    return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;  // there is no fabric
  }
  return entry::zeMemGetIpcHandle(hContext, ptr, pIpcHandle);
}

// The descriptor comes from zeMemGetAllocProperties or from another handle.
ze_result_t zeMemGetIpcHandleFromFileDescriptorExp(ze_context_handle_t hContext, uint64_t handle,
                                                   ze_ipc_mem_handle_t* pIpcHandle) {
  return with<context>(hContext, [&](context&) {
    ipc_handle made{};
    if (handle > INT32_MAX || !ipc_export::make_handle_of(static_cast<int>(handle), &made)) {
      return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    store_ipc_handle(made, pIpcHandle);
    return ZE_RESULT_SUCCESS;
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
      ipc_handle given = load_ipc_handle(handle);
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

}  // namespace entry
}  // namespace zevent::driver
