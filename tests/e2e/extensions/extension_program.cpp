// Calls functions that a driver hands out by name only: `extension_program CASE` on the driver of
// tests/support/extension_driver.cpp.

#include <level_zero/ze_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "api/zex_recorded_api.h"
#include "support/exit_once.hpp"

namespace {

void must(ze_result_t result, const char* what) {
  if (result == ZE_RESULT_SUCCESS) return;
  std::fprintf(stderr, "%s: %#x\n", what, static_cast<unsigned>(result));
  exit_once(3);
}
#define MUST(call) must((call), #call)

constexpr size_t page = 4096;
ze_driver_handle_t driver = nullptr;
ze_device_handle_t device = nullptr;
ze_context_handle_t context = nullptr;
ze_command_list_handle_t list = nullptr;

void set_up() {
  MUST(zeInit(0));
  uint32_t count = 1;
  MUST(zeDriverGet(&count, &driver));
  count = 1;
  MUST(zeDeviceGet(driver, &count, &device));
  const ze_context_desc_t context_desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  MUST(zeContextCreate(driver, &context_desc, &context));
  const ze_command_queue_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                        nullptr,
                                        0,
                                        0,
                                        ZE_COMMAND_QUEUE_FLAG_IN_ORDER,
                                        ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
                                        ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
  MUST(zeCommandListCreateImmediate(context, device, &desc, &list));
}

void tear_down() {
  MUST(zeCommandListDestroy(list));
  MUST(zeContextDestroy(context));
}

template <typename Function>
Function* find(const char* name) {
  void* address = nullptr;
  MUST(zeDriverGetExtensionFunctionAddress(driver, name, &address));
  return reinterpret_cast<Function*>(address);
}
#define FIND(function) find<decltype(::function)>(#function)

ze_graph_handle_t begin_capture() {
  MUST(FIND(zeCommandListBeginGraphCaptureExp)(list, nullptr));
  ze_graph_handle_t graph = nullptr;
  MUST(FIND(zeCommandListGetGraphExp)(list, &graph));
  return graph;
}

void end_capture() {
  ze_graph_handle_t graph = nullptr;
  MUST(FIND(zeCommandListEndGraphCaptureExp)(list, &graph, nullptr));
  MUST(FIND(zeGraphDestroyExp)(graph));
}

// Work between a pause and a resumption of a capture runs, and may be waited for.
void paused() {
  const ze_event_pool_desc_t pool_desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                          ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 3};
  ze_event_pool_handle_t pool = nullptr;
  MUST(zeEventPoolCreate(context, &pool_desc, 0, nullptr, &pool));
  ze_event_handle_t events[3] = {};
  for (uint32_t i = 0; i < 3; ++i) {
    const ze_event_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, i,
                                  ZE_EVENT_SCOPE_FLAG_HOST, ZE_EVENT_SCOPE_FLAG_HOST};
    MUST(zeEventCreate(pool, &desc, &events[i]));
  }
  const ze_device_mem_alloc_desc_t device_desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr,
                                                  0, 0};
  const ze_host_mem_alloc_desc_t host_desc = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
  void* memory = nullptr;
  void* host = nullptr;
  MUST(zeMemAllocDevice(context, &device_desc, page, 64, device, &memory));
  MUST(zeMemAllocHost(context, &host_desc, page, 64, &host));

  const auto graph = begin_capture();
  MUST(FIND(zeGraphPauseCaptureExt)(graph));
  const uint8_t pattern = 0x5a;
  MUST(FIND(zexCommandListAppendMemoryFillWithParameters)(list, memory, &pattern, 1, page, nullptr,
                                                          events[0], 0, nullptr));
  MUST(zeCommandListHostSynchronize(list, UINT64_MAX));
  MUST(zeEventHostSynchronize(events[0], UINT64_MAX));
  MUST(FIND(zeGraphResumeCaptureExt)(graph));
  end_capture();

  zex_write_to_mem_desc_t write = {ZEX_MEM_ACTION_SCOPE_FLAG_DEVICE};
  MUST(FIND(zexCommandListAppendWriteToMemory)(list, &write, memory, 42));
  zex_wait_on_mem_desc_t wait = {ZEX_WAIT_ON_MEM_FLAG_EQUAL, ZEX_MEM_ACTION_SCOPE_FLAG_DEVICE};
  MUST(FIND(zexCommandListAppendWaitOnMemory64)(list, &wait, memory, 42, events[1]));
  MUST(FIND(zexCommandListAppendMemoryCopyWithParameters)(list, host, memory, page, nullptr, 1,
                                                          &events[1], events[2]));
  MUST(zeEventHostSynchronize(events[2], UINT64_MAX));
  uint64_t first = 0;
  std::memcpy(&first, host, sizeof(first));
  if (first != 42 || static_cast<const uint8_t*>(host)[page - 1] != pattern) exit_once(3);

  MUST(zeMemFree(context, host));
  MUST(zeMemFree(context, memory));
  for (auto* each : events) MUST(zeEventDestroy(each));
  MUST(zeEventPoolDestroy(pool));
}

// The same with functions that nothing declares; one of them is not called.
void paused_in_an_unknown_way() {
  const auto graph = begin_capture();
  find<ze_result_t(ze_graph_handle_t)>("zeGraphContinueFuture");
  MUST(find<ze_result_t(ze_graph_handle_t)>("zeGraphSuspendFuture")(graph));
  MUST(zeCommandListHostSynchronize(list, UINT64_MAX));
  end_capture();
}

// EV-66: nobody pauses the capture. The unknown functions are handed out and not called.
void captured() {
  find<ze_result_t(ze_graph_handle_t)>("zeGraphSuspendFuture");
  begin_capture();
  MUST(zeCommandListHostSynchronize(list, UINT64_MAX));
  end_capture();
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view wanted = count == 2 ? arguments[1] : "";
  set_up();
  if (wanted == "paused")
    paused();
  else if (wanted == "paused_in_an_unknown_way")
    paused_in_an_unknown_way();
  else if (wanted == "captured")
    captured();
  else
    return 2;
  tear_down();
}
