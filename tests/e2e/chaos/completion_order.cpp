// Prints in which order the commands of a regular list that is not in-order completed, for each of
// two queues; with an argument, for each of four that are used by threads of their own.
#include <level_zero/ze_api.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#define MUST(call)                                                              \
  do {                                                                          \
    const ze_result_t result = (call);                                          \
    if (result != ZE_RESULT_SUCCESS) {                                          \
      std::fprintf(stderr, "%s: 0x%x\n", #call, static_cast<unsigned>(result)); \
      std::exit(1);                                                             \
    }                                                                           \
  } while (false)

namespace {

constexpr uint32_t commands = 24;

ze_device_handle_t device = nullptr;
ze_context_handle_t context = nullptr;

std::string find_order() {
  ze_command_queue_handle_t queue = nullptr;
  ze_command_queue_desc_t queue_desc = {};
  queue_desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  queue_desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
  MUST(zeCommandQueueCreate(context, device, &queue_desc, &queue));
  ze_command_list_handle_t list = nullptr;
  const ze_command_list_desc_t list_desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, 0, 0};
  MUST(zeCommandListCreate(context, device, &list_desc, &list));
  ze_event_pool_handle_t pool = nullptr;
  const ze_event_pool_desc_t pool_desc = {
      ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
      ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP, commands};
  MUST(zeEventPoolCreate(context, &pool_desc, 0, nullptr, &pool));

  std::vector<uint32_t> data(2 * commands);
  std::vector<ze_event_handle_t> events(commands);
  for (uint32_t i = 0; i < commands; ++i) {
    const ze_event_desc_t event_desc = {ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, i, 0, 0};
    MUST(zeEventCreate(pool, &event_desc, &events[i]));
    MUST(zeCommandListAppendMemoryCopy(list, &data[i], &data[commands + i], sizeof data[i],
                                       events[i], 0, nullptr));
  }
  MUST(zeCommandListClose(list));
  MUST(zeCommandQueueExecuteCommandLists(queue, 1, &list, nullptr));
  MUST(zeCommandQueueSynchronize(queue, UINT64_MAX));

  std::vector<uint64_t> ends(commands);
  for (uint32_t i = 0; i < commands; ++i) {
    ze_kernel_timestamp_result_t times = {};
    MUST(zeEventQueryKernelTimestamp(events[i], &times));
    ends[i] = times.global.kernelEnd;
  }
  std::vector<uint32_t> order(commands);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return ends[a] < ends[b]; });

  for (ze_event_handle_t event : events) MUST(zeEventDestroy(event));
  MUST(zeEventPoolDestroy(pool));
  MUST(zeCommandListDestroy(list));
  MUST(zeCommandQueueDestroy(queue));
  std::string line;
  for (const uint32_t each : order) line += std::to_string(each) + " ";
  return line;
}

// Which thread comes first is not for the driver to choose.
std::vector<std::string> find_orders_of_threads() {
  std::vector<std::string> lines(4);
  std::vector<std::thread> threads;
  for (auto& line : lines) threads.emplace_back([&line] { line = find_order(); });
  for (auto& each : threads) each.join();
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace

int main(int argument_count, char**) {
  ze_driver_handle_t driver = nullptr;
  uint32_t one = 1;
  MUST(zeInit(0));
  MUST(zeDriverGet(&one, &driver));
  MUST(zeDeviceGet(driver, &one, &device));
  const ze_context_desc_t context_desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  MUST(zeContextCreate(driver, &context_desc, &context));
  std::vector<std::string> lines;
  if (argument_count > 1) {
    lines = find_orders_of_threads();
  } else {
    lines.push_back(find_order());
    lines.push_back(find_order());
  }
  for (const auto& each : lines) std::puts(each.c_str());
  MUST(zeContextDestroy(context));
}
