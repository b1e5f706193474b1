/* The smallest honest Level Zero program: a fill, a copy that waits for it, and a host that waits
 * for the copy.
 *
 *     fill ──signals──► filled ──waited for by──► copy ──signals──► copied ──waited for by──► host
 */
#include <level_zero/ze_api.h>
#include <stdio.h>
#include <stdlib.h>

#define BYTES 4096

static void check(ze_result_t result, const char* call) {
  if (result != ZE_RESULT_SUCCESS) {
    fprintf(stderr, "hello_event: %s failed with 0x%x\n", call, (unsigned)result);
    exit(1);
  }
}
#define CHECK(call) check(call, #call)

int main(void) {
  /* A driver, a device of it, and a context that owns everything else. */
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

  /* Commands appended to an immediate list start without further ado, asynchronously. */
  ze_command_list_handle_t list;
  ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                        .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
  CHECK(zeCommandListCreateImmediate(context, device, &queue_desc, &list));

  /* Two events: one for the device to wait for, one for the host. */
  ze_event_pool_handle_t pool;
  ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                    .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                    .count = 2};
  CHECK(zeEventPoolCreate(context, &pool_desc, 0, NULL, &pool));
  ze_event_handle_t filled, copied;
  ze_event_desc_t event_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = 0};
  CHECK(zeEventCreate(pool, &event_desc, &filled));
  event_desc.index = 1;
  event_desc.signal = ZE_EVENT_SCOPE_FLAG_HOST; /* the host reads what the copy wrote */
  CHECK(zeEventCreate(pool, &event_desc, &copied));

  void* on_device;
  unsigned char on_host[BYTES] = {0};
  ze_device_mem_alloc_desc_t memory_desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  CHECK(zeMemAllocDevice(context, &memory_desc, BYTES, 64, device, &on_device));

  /* The work. Nothing but the events orders the two commands: this list is not in-order. */
  const unsigned char pattern = 42;
  CHECK(zeCommandListAppendMemoryFill(list, on_device, &pattern, 1, BYTES, filled, 0, NULL));
  CHECK(zeCommandListAppendMemoryCopy(list, on_host, on_device, BYTES, copied, 1, &filled));
  CHECK(zeEventHostSynchronize(copied, UINT64_MAX));

  unsigned long sum = 0;
  for (size_t i = 0; i < BYTES; ++i) sum += on_host[i];
  printf("hello_event: %d bytes of %d came back, sum %lu, expected %lu\n", BYTES, pattern, sum,
         (unsigned long)BYTES * pattern);

  CHECK(zeMemFree(context, on_device));
  CHECK(zeEventDestroy(copied));
  CHECK(zeEventDestroy(filled));
  CHECK(zeEventPoolDestroy(pool));
  CHECK(zeCommandListDestroy(list));
  CHECK(zeContextDestroy(context));
  return sum == (unsigned long)BYTES * pattern ? 0 : 1;
}
