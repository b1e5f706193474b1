/* What a kernel launch without a signal costs the thread that makes it, with the waiting for all of
 * them in it: where tools read the times. Prints two numbers, in nanoseconds for each launch: to an
 * immediate list, and to a regular list that is executed once. Run it under a tool and without. */
#define _POSIX_C_SOURCE 200809L
#include <level_zero/ze_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "kernels/vector_add_spv.h"

#define LAUNCHES 1000
#define ROUNDS 25

static void check(ze_result_t result, const char* call) {
  if (result != ZE_RESULT_SUCCESS) {
    fprintf(stderr, "launch_costs: %s failed with 0x%x\n", call, (unsigned)result);
    exit(1);
  }
}
#define CHECK(call) check(call, #call)

static double thread_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int by_size(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median(double* values, size_t count) {
  qsort(values, count, sizeof(*values), by_size);
  return values[count / 2];
}

int main(void) {
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

  ze_module_handle_t module;
  ze_module_desc_t module_desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                  .format = ZE_MODULE_FORMAT_IL_SPIRV,
                                  .inputSize = sizeof(vector_add_spv),
                                  .pInputModule = (const uint8_t*)vector_add_spv};
  CHECK(zeModuleCreate(context, device, &module_desc, &module, NULL));
  ze_kernel_handle_t kernel;
  ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                  .pKernelName = "vector_add"};
  CHECK(zeKernelCreate(module, &kernel_desc, &kernel));
  CHECK(zeKernelSetGroupSize(kernel, 1, 1, 1));
  void* memory;
  ze_host_mem_alloc_desc_t memory_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
  CHECK(zeMemAllocHost(context, &memory_desc, 64, 64, &memory));
  const uint32_t count = 1;
  for (uint32_t i = 0; i < 3; ++i)
    CHECK(zeKernelSetArgumentValue(kernel, i, sizeof(memory), &memory));
  CHECK(zeKernelSetArgumentValue(kernel, 3, sizeof(count), &count));

  ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                        .flags = ZE_COMMAND_QUEUE_FLAG_IN_ORDER,
                                        .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
  ze_command_list_handle_t immediate, regular;
  ze_command_queue_handle_t queue;
  ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                      .flags = ZE_COMMAND_LIST_FLAG_IN_ORDER};
  CHECK(zeCommandListCreateImmediate(context, device, &queue_desc, &immediate));
  CHECK(zeCommandListCreate(context, device, &list_desc, &regular));
  queue_desc.flags = 0;
  CHECK(zeCommandQueueCreate(context, device, &queue_desc, &queue));

  const ze_group_count_t groups = {1, 1, 1};
  double immediate_ns[ROUNDS], regular_ns[ROUNDS];
  for (int round = 0; round < ROUNDS; ++round) {
    double begin = thread_ns();
    for (int i = 0; i < LAUNCHES; ++i)
      CHECK(zeCommandListAppendLaunchKernel(immediate, kernel, &groups, NULL, 0, NULL));
    CHECK(zeCommandListHostSynchronize(immediate, UINT64_MAX));
    immediate_ns[round] = (thread_ns() - begin) / LAUNCHES;

    begin = thread_ns();
    for (int i = 0; i < LAUNCHES; ++i)
      CHECK(zeCommandListAppendLaunchKernel(regular, kernel, &groups, NULL, 0, NULL));
    CHECK(zeCommandListClose(regular));
    CHECK(zeCommandQueueExecuteCommandLists(queue, 1, &regular, NULL));
    CHECK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    CHECK(zeCommandListReset(regular));
    regular_ns[round] = (thread_ns() - begin) / LAUNCHES;
  }
  printf("launch_costs: %.1f %.1f\n", median(immediate_ns, ROUNDS), median(regular_ns, ROUNDS));

  CHECK(zeCommandQueueDestroy(queue));
  CHECK(zeCommandListDestroy(regular));
  CHECK(zeCommandListDestroy(immediate));
  CHECK(zeMemFree(context, memory));
  CHECK(zeKernelDestroy(kernel));
  CHECK(zeModuleDestroy(module));
  CHECK(zeContextDestroy(context));
  return 0;
}
