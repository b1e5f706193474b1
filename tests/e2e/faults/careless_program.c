/* Believes every call: writes through the pointer it was given, checked or not. */
#include <level_zero/ze_api.h>
#include <string.h>

int main(void) {
  ze_driver_handle_t driver = NULL;
  ze_device_handle_t device = NULL;
  ze_context_handle_t context = NULL;
  uint32_t one = 1;
  if (zeInit(0) != ZE_RESULT_SUCCESS || zeDriverGet(&one, &driver) != ZE_RESULT_SUCCESS ||
      zeDeviceGet(driver, &one, &device) != ZE_RESULT_SUCCESS)
    return 1;
  const ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
  if (zeContextCreate(driver, &context_desc, &context) != ZE_RESULT_SUCCESS) return 1;
  const ze_device_mem_alloc_desc_t device_desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  const ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
  for (int i = 0; i < 3; ++i) {
    void* memory = NULL;
    (void)zeMemAllocShared(context, &device_desc, &host_desc, 64, 0, device, &memory);
    memset(memory, i, 64);
    zeMemFree(context, memory);
  }
  return zeContextDestroy(context) != ZE_RESULT_SUCCESS;
}
