/* Polls in all the ways that there are, and does nothing wrong: queries, waits that may not wait,
 * and waits with tiny timeouts. On a busy machine some of these calls take as long as other
 * programs keep the processor.
 *
 *     polling [ROUNDS]
 */
#include <level_zero/ze_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES (1 << 20)

static void check(ze_result_t result, const char* call) {
  if (result != ZE_RESULT_SUCCESS) {
    fprintf(stderr, "polling: %s failed with 0x%x\n", call, (unsigned)result);
    exit(1);
  }
}
#define CHECK(call) check(call, #call)

static ze_result_t ask(unsigned way, ze_event_handle_t event) {
  switch (way % 4) {
    case 0:
      return zeEventHostSynchronize(event, 0);
    case 1:
      return zeEventHostSynchronize(event, 1);
    case 2:
      return zeEventHostSynchronize(event, 100000);
    default:
      return zeEventQueryStatus(event);
  }
}

int main(int count, char** arguments) {
  const unsigned rounds = count > 1 ? (unsigned)strtoul(arguments[1], NULL, 10) : 200;
  ze_driver_handle_t driver;
  ze_device_handle_t device;
  uint32_t one = 1;
  CHECK(zeInit(0));
  CHECK(zeDriverGet(&one, &driver));
  one = 1;
  CHECK(zeDeviceGet(driver, &one, &device));
  ze_context_handle_t context;
  ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
  CHECK(zeContextCreate(driver, &context_desc, &context));
  ze_command_list_handle_t list;
  ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                        .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
  CHECK(zeCommandListCreateImmediate(context, device, &queue_desc, &list));
  ze_event_pool_handle_t pool;
  ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                    .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                    .count = 2};
  CHECK(zeEventPoolCreate(context, &pool_desc, 0, NULL, &pool));
  ze_event_handle_t filled, copied;
  ze_event_desc_t event_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = 0};
  CHECK(zeEventCreate(pool, &event_desc, &filled));
  event_desc.index = 1;
  event_desc.signal = ZE_EVENT_SCOPE_FLAG_HOST;
  CHECK(zeEventCreate(pool, &event_desc, &copied));
  void *on_device, *on_host;
  ze_device_mem_alloc_desc_t memory_desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
  CHECK(zeMemAllocDevice(context, &memory_desc, BYTES, 64, device, &on_device));
  CHECK(zeMemAllocHost(context, &host_desc, BYTES, 64, &on_host));

  unsigned long wrong = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    const unsigned char pattern = (unsigned char)(round + 1);
    CHECK(zeCommandListAppendMemoryFill(list, on_device, &pattern, 1, BYTES, filled, 0, NULL));
    CHECK(zeCommandListAppendMemoryCopy(list, on_host, on_device, BYTES, copied, 1, &filled));
    ze_result_t answer;
    while ((answer = ask(round, copied)) == ZE_RESULT_NOT_READY)
      ;
    CHECK(answer);
    for (size_t i = 0; i < BYTES; i += 4096) wrong += ((unsigned char*)on_host)[i] != pattern;
    CHECK(zeEventHostReset(filled));
    CHECK(zeEventHostReset(copied));
  }
  printf("polling: %u rounds, %lu wrong\n", rounds, wrong);

  CHECK(zeMemFree(context, on_host));
  CHECK(zeMemFree(context, on_device));
  CHECK(zeEventDestroy(copied));
  CHECK(zeEventDestroy(filled));
  CHECK(zeEventPoolDestroy(pool));
  CHECK(zeCommandListDestroy(list));
  CHECK(zeContextDestroy(context));
  return wrong != 0;
}
