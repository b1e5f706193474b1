// The software driver with functions that it hands out by name only, as Intel's driver does: some
// that our own header declares, and some that nothing declares. Graphs are handles and no more:
// what is appended during a capture runs at once.
#include <dlfcn.h>
#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>

#include <cstdint>
#include <string_view>

#include "api/zex_recorded_api.h"

namespace {

template <typename Function>
Function next(Function, const char* name) {
  // Found through what is linked, whatever else in the process has these names.
  static void* const driver = dlopen(SOFTWARE_DRIVER, RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function>(dlsym(driver, name));
}
#define NEXT(function) next(&::function, #function)

char graph_memory;
ze_graph_handle_t the_graph() {
  return reinterpret_cast<ze_graph_handle_t>(&graph_memory);
}

ze_result_t begin_capture(ze_command_list_handle_t, void*) {
  return ZE_RESULT_SUCCESS;
}
ze_result_t get_graph(ze_command_list_handle_t, ze_graph_handle_t* graph) {
  *graph = the_graph();
  return ZE_RESULT_SUCCESS;
}
ze_result_t end_capture(ze_command_list_handle_t, ze_graph_handle_t* graph, void*) {
  if (graph != nullptr) *graph = the_graph();
  return ZE_RESULT_SUCCESS;
}
ze_result_t with_graph(ze_graph_handle_t graph) {
  return graph == the_graph() ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t copy_with_parameters(ze_command_list_handle_t list, void* to, const void* from,
                                 size_t bytes, const void*, uint32_t waits,
                                 ze_event_handle_t* wait_events, ze_event_handle_t signal) {
  return NEXT(zeCommandListAppendMemoryCopy)(list, to, from, bytes, signal, waits, wait_events);
}
ze_result_t fill_with_parameters(ze_command_list_handle_t list, void* to, const void* pattern,
                                 size_t pattern_bytes, size_t bytes, const void*,
                                 ze_event_handle_t signal, uint32_t waits,
                                 ze_event_handle_t* wait_events) {
  return NEXT(zeCommandListAppendMemoryFill)(list, to, pattern, pattern_bytes, bytes, signal, waits,
                                             wait_events);
}
ze_result_t write_to_memory(ze_command_list_handle_t list, zex_write_to_mem_desc_t* desc, void* to,
                            uint64_t data) {
  if (desc == nullptr) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  return NEXT(zeCommandListAppendMemoryFill)(list, to, &data, sizeof(data), sizeof(data), nullptr,
                                             0, nullptr);
}
// In an in-order list that has written the value there is nothing to wait for.
ze_result_t wait_on_memory(ze_command_list_handle_t list, zex_wait_on_mem_desc_t* desc, void*,
                           uint64_t, ze_event_handle_t signal) {
  if (desc == nullptr || desc->actionFlag != ZEX_WAIT_ON_MEM_FLAG_EQUAL)
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  return NEXT(zeCommandListAppendBarrier)(list, signal, 0, nullptr);
}

struct named_function {
  std::string_view name;
  void* address;
};
#define NAMED(name, function) \
  { name, reinterpret_cast<void*>(&(function)) }

const named_function functions[] = {
    NAMED("zeCommandListBeginGraphCaptureExp", begin_capture),
    NAMED("zeCommandListGetGraphExp", get_graph),
    NAMED("zeCommandListEndGraphCaptureExp", end_capture),
    NAMED("zeGraphPauseCaptureExt", with_graph),
    NAMED("zeGraphResumeCaptureExt", with_graph),
    NAMED("zeGraphDestroyExp", with_graph),
    NAMED("zexCommandListAppendMemoryCopyWithParameters", copy_with_parameters),
    NAMED("zexCommandListAppendMemoryFillWithParameters", fill_with_parameters),
    NAMED("zexCommandListAppendWriteToMemory", write_to_memory),
    NAMED("zexCommandListAppendWaitOnMemory64", wait_on_memory),
    // In no header at all.
    NAMED("zeGraphSuspendFuture", with_graph),
    NAMED("zeGraphContinueFuture", with_graph),
};

}  // namespace

extern "C" {

ZE_APIEXPORT ze_result_t ZE_APICALL zeDriverGetExtensionFunctionAddress(ze_driver_handle_t driver,
                                                                        const char* name,
                                                                        void** address) {
  for (const auto& each : functions)
    if (each.name == name) {
      *address = each.address;
      return ZE_RESULT_SUCCESS;
    }
  return NEXT(zeDriverGetExtensionFunctionAddress)(driver, name, address);
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeGetDriverProcAddrTable(ze_api_version_t version,
                                                             ze_driver_dditable_t* table) {
  const auto result = NEXT(zeGetDriverProcAddrTable)(version, table);
  if (result == ZE_RESULT_SUCCESS)
    table->pfnGetExtensionFunctionAddress = zeDriverGetExtensionFunctionAddress;
  return result;
}

}  // extern "C"
