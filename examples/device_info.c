/* What Level Zero says about the drivers and devices it finds. */
#include <level_zero/ze_api.h>
#include <stdio.h>
#include <stdlib.h>

static void check(ze_result_t result, const char* call) {
  if (result != ZE_RESULT_SUCCESS) {
    fprintf(stderr, "device_info: %s failed with 0x%x\n", call, (unsigned)result);
    exit(1);
  }
}
#define CHECK(call) check(call, #call)

static void* allocate(size_t count, size_t size) {
  void* memory = calloc(count > 0 ? count : 1, size);
  if (memory == NULL) {
    fprintf(stderr, "device_info: out of memory\n");
    exit(1);
  }
  return memory;
}

static void show_queue_groups(ze_device_handle_t device) {
  /* The two-call idiom: ask for the number, then for as many. */
  uint32_t count = 0;
  CHECK(zeDeviceGetCommandQueueGroupProperties(device, &count, NULL));
  ze_command_queue_group_properties_t* groups = allocate(count, sizeof *groups);
  for (uint32_t i = 0; i < count; ++i)
    groups[i].stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
  CHECK(zeDeviceGetCommandQueueGroupProperties(device, &count, groups));
  for (uint32_t i = 0; i < count; ++i) {
    const ze_command_queue_group_property_flags_t flags = groups[i].flags;
    printf("    queue group %u   %u queues:%s%s\n", i, groups[i].numQueues,
           flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE ? " compute" : "",
           flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY ? " copy" : "");
  }
  free(groups);
}

static void show_device(ze_device_handle_t device) {
  ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
  ze_device_compute_properties_t compute = {.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES};
  CHECK(zeDeviceGetProperties(device, &properties));
  CHECK(zeDeviceGetComputeProperties(device, &compute));
  printf("  device             %s\n", properties.name);
  printf("    threads          %u slices x %u subslices x %u units x %u threads\n",
         properties.numSlices, properties.numSubslicesPerSlice, properties.numEUsPerSubslice,
         properties.numThreadsPerEU);
  printf("    largest buffer   %llu MiB\n", (unsigned long long)(properties.maxMemAllocSize >> 20));
  printf("    work-group       up to %u items, %u bytes of local memory\n",
         compute.maxTotalGroupSize, compute.maxSharedLocalMemory);
  printf("    timestamps       %u valid bits, resolution %llu\n",
         properties.kernelTimestampValidBits, (unsigned long long)properties.timerResolution);
  show_queue_groups(device);
}

int main(void) {
  CHECK(zeInit(0));
  uint32_t driver_count = 0;
  CHECK(zeDriverGet(&driver_count, NULL));
  ze_driver_handle_t* drivers = allocate(driver_count, sizeof *drivers);
  CHECK(zeDriverGet(&driver_count, drivers));
  for (uint32_t i = 0; i < driver_count; ++i) {
    ze_api_version_t version;
    CHECK(zeDriverGetApiVersion(drivers[i], &version));
    printf("driver %u             Level Zero API %u.%u\n", i, (unsigned)ZE_MAJOR_VERSION(version),
           (unsigned)ZE_MINOR_VERSION(version));
    uint32_t device_count = 0;
    CHECK(zeDeviceGet(drivers[i], &device_count, NULL));
    ze_device_handle_t* devices = allocate(device_count, sizeof *devices);
    CHECK(zeDeviceGet(drivers[i], &device_count, devices));
    for (uint32_t j = 0; j < device_count; ++j) show_device(devices[j]);
    free(devices);
  }
  free(drivers);
  return 0;
}
