// The software driver with what it does not have: a little of graph capture, where what is appended
// to a list that captures is noted and not executed; devices that cannot access each other, nor
// plain host memory, nor shared memory while the host does.

#include <dlfcn.h>
#include <level_zero/ze_ddi.h>

#include <set>
#include <vector>

namespace {

ze_command_list_dditable_t next;
std::set<ze_command_list_handle_t> capturing;
std::vector<ze_event_handle_t> captured;

ze_result_t begin(ze_command_list_handle_t list, const void*) {
  capturing.insert(list);
  return ZE_RESULT_SUCCESS;
}

ze_result_t end(ze_command_list_handle_t list, const void*, ze_graph_handle_t* graph) {
  capturing.erase(list);
  *graph = reinterpret_cast<ze_graph_handle_t>(&captured);
  return ZE_RESULT_SUCCESS;
}

ze_result_t is_capturing(ze_command_list_handle_t list) {
  return capturing.contains(list) ? ZE_RESULT_QUERY_TRUE : ZE_RESULT_QUERY_FALSE;
}

ze_result_t append_barrier(ze_command_list_handle_t list, ze_event_handle_t signal, uint32_t count,
                           ze_event_handle_t* waits) {
  if (!capturing.contains(list)) return next.pfnAppendBarrier(list, signal, count, waits);
  captured.push_back(signal);
  return ZE_RESULT_SUCCESS;
}

ze_result_t append_signal(ze_command_list_handle_t list, ze_event_handle_t event) {
  if (!capturing.contains(list)) return next.pfnAppendSignalEvent(list, event);
  captured.push_back(event);
  return ZE_RESULT_SUCCESS;
}

ze_result_t is_no_peer(ze_device_handle_t, ze_device_handle_t, ze_bool_t* value) {
  *value = 0;
  return ZE_RESULT_SUCCESS;
}

ze_pfnDeviceGetMemoryAccessProperties_t next_memory_access;

ze_result_t memory_access(ze_device_handle_t device, ze_device_memory_access_properties_t* access) {
  const ze_result_t result = next_memory_access(device, access);
  access->sharedSingleDeviceAllocCapabilities = ZE_MEMORY_ACCESS_CAP_FLAG_RW;
  access->sharedSystemAllocCapabilities = 0;
  return result;
}

template <typename Table>
ze_result_t real_table(const char* getter_name, ze_api_version_t version, Table* table) {
  void* driver = dlopen(SOFTWARE_DRIVER, RTLD_NOW | RTLD_LOCAL);
  using getter = ze_result_t(ze_api_version_t, Table*);
  return reinterpret_cast<getter*>(dlsym(driver, getter_name))(version, table);
}

}  // namespace

extern "C" {

// The signals of what was captured.
[[gnu::visibility("default")]] const std::vector<ze_event_handle_t>* captured_signals() {
  return &captured;
}

[[gnu::visibility("default")]] ze_result_t zeGetCommandListProcAddrTable(
    ze_api_version_t version, ze_command_list_dditable_t* table) {
  const ze_result_t result = real_table("zeGetCommandListProcAddrTable", version, table);
  if (result != ZE_RESULT_SUCCESS) return result;
  next = *table;
  table->pfnBeginGraphCaptureExt = begin;
  table->pfnEndGraphCaptureExt = end;
  table->pfnIsGraphCaptureEnabledExt = is_capturing;
  table->pfnAppendBarrier = append_barrier;
  table->pfnAppendSignalEvent = append_signal;
  return result;
}

[[gnu::visibility("default")]] ze_result_t zeGetDeviceProcAddrTable(ze_api_version_t version,
                                                                    ze_device_dditable_t* table) {
  const ze_result_t result = real_table("zeGetDeviceProcAddrTable", version, table);
  if (result != ZE_RESULT_SUCCESS) return result;
  table->pfnCanAccessPeer = is_no_peer;
  next_memory_access = table->pfnGetMemoryAccessProperties;
  table->pfnGetMemoryAccessProperties = memory_access;
  return result;
}
}
