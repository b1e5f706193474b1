/* How long does a status query take while the device is busy?
 *
 * A query must answer at once: NOT_READY is an answer. One driver let it wait for the device
 * instead when the event was that of a barrier behind a long kernel. This program makes the calls
 * that showed it, those of a HIP runtime that records an event before and after a kernel:
 *
 *     fill, and the host waits for it
 *     timestamp ─► copy ─► barrier: the start is recorded
 *                             ├─► reset_symbols
 *                             └─► reverse_add ─► timestamp ─► copy ─► barrier: the end is
 *                                                  zeEventQueryStatus ◄──┘
 *
 * usage: blocking_query [BYTES]
 */
#include <level_zero/ze_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "kernels/blocking_query_spv.h"

#define DEFAULT_BYTES 40000000u
#define GROUP_SIZE 256u
#define SYMBOLS 64u
#define ROUNDS 24

static void check(ze_result_t result, const char* call) {
  if (result != ZE_RESULT_SUCCESS) {
    fprintf(stderr, "blocking_query: %s failed with 0x%x\n", call, (unsigned)result);
    exit(1);
  }
}
#define CHECK(call) check(call, #call)

static ze_driver_handle_t driver;
static ze_device_handle_t device;
static ze_context_handle_t context;
static ze_command_list_handle_t list;

static void open_device(void) {
  uint32_t one = 1;
  CHECK(zeInit(0));
  CHECK(zeDriverGet(&one, &driver));
  ze_driver_properties_t driver_facts = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES};
  CHECK(zeDriverGetProperties(driver, &driver_facts));
  one = 1;
  CHECK(zeDeviceGet(driver, &one, &device));
  ze_device_properties_t device_facts = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
  CHECK(zeDeviceGetProperties(device, &device_facts));
  const ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
  CHECK(zeContextCreate(driver, &context_desc, &context));
  const ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                              .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
  CHECK(zeCommandListCreateImmediate(context, device, &queue_desc, &list));
}

/* Every event gets a pool of its own, as in the runtime that this was seen with. */
struct event {
  ze_event_pool_handle_t pool;
  ze_event_handle_t handle;
};

static struct event make_event(void) {
  struct event made;
  const ze_event_pool_desc_t pool_desc = {
      .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
      .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
      .count = 1};
  const ze_event_desc_t event_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                                      .signal = ZE_EVENT_SCOPE_FLAG_HOST,
                                      .wait = ZE_EVENT_SCOPE_FLAG_HOST};
  CHECK(zeEventPoolCreate(context, &pool_desc, 1, &device, &made.pool));
  CHECK(zeEventCreate(made.pool, &event_desc, &made.handle));
  return made;
}

static void destroy_event(struct event gone) {
  CHECK(zeEventDestroy(gone.handle));
  CHECK(zeEventPoolDestroy(gone.pool));
}

/* Recording an event: the device writes its clock, after another event where there is one, the time
 * is copied to where the host sees it, and a barrier says that both are done. */
struct recorded {
  struct event written, copied, complete;
};

static struct recorded record(uint64_t* device_time, uint64_t* host_time, ze_event_handle_t after) {
  struct recorded made = {make_event(), make_event(), make_event()};
  CHECK(zeCommandListAppendWriteGlobalTimestamp(list, device_time, made.written.handle,
                                                after != NULL ? 1 : 0,
                                                after != NULL ? &after : NULL));
  CHECK(zeCommandListAppendMemoryCopy(list, host_time, device_time, sizeof(*host_time),
                                      made.copied.handle, 1, &made.written.handle));
  CHECK(zeCommandListAppendBarrier(list, made.complete.handle, 1, &made.copied.handle));
  return made;
}

static void destroy_recorded(struct recorded gone) {
  destroy_event(gone.complete);
  destroy_event(gone.copied);
  destroy_event(gone.written);
}

static ze_module_handle_t load_module(void) {
  ze_module_handle_t module;
  const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                 .format = ZE_MODULE_FORMAT_IL_SPIRV,
                                 .inputSize = sizeof(blocking_query_spv),
                                 .pInputModule = (const uint8_t*)blocking_query_spv};
  CHECK(zeModuleCreate(context, device, &desc, &module, NULL));
  return module;
}

static ze_kernel_handle_t load_kernel(ze_module_handle_t module, const char* name) {
  ze_kernel_handle_t kernel;
  const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
  CHECK(zeKernelCreate(module, &desc, &kernel));
  return kernel;
}

static ze_group_count_t groups_for(uint64_t items) {
  return (ze_group_count_t){(uint32_t)((items + GROUP_SIZE - 1) / GROUP_SIZE), 1, 1};
}

static uint64_t now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

/* What reverse_add makes of an element. */
static int32_t expected_of(int32_t value) {
  uint32_t sum = (uint32_t)value;
  for (uint32_t round = 0; round < ROUNDS; ++round) sum = sum * 3u + round;
  return (int32_t)sum;
}

int main(int argc, char** argv) {
  const size_t bytes = argc > 1 ? strtoul(argv[1], NULL, 10) / 4 * 4 : DEFAULT_BYTES;
  const uint64_t count = bytes / sizeof(int32_t);
  if (count == 0) {
    fprintf(stderr, "usage: blocking_query [BYTES], at least 4\n");
    return 2;
  }
  open_device();

  /* Memory of all three kinds: the device's own, the host's, and memory that both use. */
  const ze_device_mem_alloc_desc_t on_device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  const ze_host_mem_alloc_desc_t on_host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
  void *from, *to, *symbols, *device_times, *host_times;
  CHECK(zeMemAllocDevice(context, &on_device, bytes, 64, device, &from));
  CHECK(zeMemAllocShared(context, &on_device, &on_host, bytes, 64, device, &to));
  CHECK(zeMemAllocDevice(context, &on_device, SYMBOLS * 8, 64, device, &symbols));
  CHECK(zeMemAllocDevice(context, &on_device, 2 * sizeof(uint64_t), 64, device, &device_times));
  CHECK(zeMemAllocHost(context, &on_host, 2 * sizeof(uint64_t), 64, &host_times));

  ze_module_handle_t module = load_module();
  ze_kernel_handle_t reset_symbols = load_kernel(module, "reset_symbols");
  ze_kernel_handle_t reverse_add = load_kernel(module, "reverse_add");

  /* Fill the input, and when that is done record the start. */
  const int32_t pattern = 7;
  struct event filled = make_event();
  CHECK(zeCommandListAppendMemoryFill(list, from, &pattern, sizeof(pattern), bytes, filled.handle,
                                      0, NULL));
  CHECK(zeEventHostSynchronize(filled.handle, UINT64_MAX));
  struct recorded start = record(device_times, host_times, NULL);

  /* Two kernels that wait for the recorded start, and not for each other. */
  struct event were_reset = make_event(), added = make_event();
  const uint64_t symbol_count = SYMBOLS;
  ze_group_count_t groups = groups_for(SYMBOLS);
  CHECK(zeKernelSetGroupSize(reset_symbols, GROUP_SIZE, 1, 1));
  CHECK(zeKernelSetArgumentValue(reset_symbols, 0, sizeof(symbols), &symbols));
  CHECK(zeKernelSetArgumentValue(reset_symbols, 1, sizeof(symbol_count), &symbol_count));
  CHECK(zeCommandListAppendLaunchKernel(list, reset_symbols, &groups, were_reset.handle, 1,
                                        &start.complete.handle));
  const int32_t rounds = ROUNDS;
  groups = groups_for(count);
  CHECK(zeKernelSetGroupSize(reverse_add, GROUP_SIZE, 1, 1));
  CHECK(zeKernelSetArgumentValue(reverse_add, 0, sizeof(from), &from));
  CHECK(zeKernelSetArgumentValue(reverse_add, 1, sizeof(to), &to));
  CHECK(zeKernelSetArgumentValue(reverse_add, 2, sizeof(count), &count));
  CHECK(zeKernelSetArgumentValue(reverse_add, 3, sizeof(rounds), &rounds));
  CHECK(zeCommandListAppendLaunchKernel(list, reverse_add, &groups, added.handle, 1,
                                        &start.complete.handle));

  /* Record the end, and ask at once whether it is reached. */
  struct recorded end =
      record((uint64_t*)device_times + 1, (uint64_t*)host_times + 1, added.handle);
  const uint64_t before = now_us();
  const ze_result_t status = zeEventQueryStatus(end.complete.handle);
  const uint64_t took_us = now_us() - before;
  printf("blocking_query: zeEventQueryStatus said %s ", status == ZE_RESULT_SUCCESS ? "SUCCESS"
                                                        : status == ZE_RESULT_NOT_READY
                                                            ? "NOT_READY"
                                                            : "an error");
  if (took_us < 1000) {
    printf("at once\n");
  } else {
    printf("after %llu us\n", (unsigned long long)took_us);
  }

  CHECK(zeEventHostSynchronize(end.complete.handle, UINT64_MAX));
  CHECK(zeEventHostSynchronize(were_reset.handle, UINT64_MAX));
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < count; ++i) wrong += ((int32_t*)to)[i] != expected_of(pattern);
  printf("blocking_query: %llu of %llu sums are right\n", (unsigned long long)(count - wrong),
         (unsigned long long)count);

  destroy_recorded(end);
  destroy_event(added);
  destroy_event(were_reset);
  destroy_recorded(start);
  destroy_event(filled);
  CHECK(zeKernelDestroy(reverse_add));
  CHECK(zeKernelDestroy(reset_symbols));
  CHECK(zeModuleDestroy(module));
  CHECK(zeMemFree(context, host_times));
  CHECK(zeMemFree(context, device_times));
  CHECK(zeMemFree(context, symbols));
  CHECK(zeMemFree(context, to));
  CHECK(zeMemFree(context, from));
  CHECK(zeCommandListDestroy(list));
  CHECK(zeContextDestroy(context));
  return wrong == 0 ? 0 : 1;
}
