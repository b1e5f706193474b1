/* Fills memory of the stack, as the specification allows where the device says so. It does not ask.
 */
#include <level_zero/ze_api.h>
#include <stdio.h>

int main(void) {
  ze_driver_handle_t driver = NULL;
  ze_device_handle_t device = NULL;
  ze_context_handle_t context = NULL;
  ze_command_list_handle_t list = NULL;
  uint32_t one = 1;
  const ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
  const ze_command_queue_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                             .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
  if (zeInit(0) != ZE_RESULT_SUCCESS || zeDriverGet(&one, &driver) != ZE_RESULT_SUCCESS ||
      zeDeviceGet(driver, &one, &device) != ZE_RESULT_SUCCESS ||
      zeContextCreate(driver, &context_desc, &context) != ZE_RESULT_SUCCESS ||
      zeCommandListCreateImmediate(context, device, &list_desc, &list) != ZE_RESULT_SUCCESS)
    return 2;

  char bytes[64];
  const char pattern = 42;
  const ze_result_t result =
      zeCommandListAppendMemoryFill(list, bytes, &pattern, 1, sizeof bytes, NULL, 0, NULL);
  if (result == ZE_RESULT_SUCCESS)
    printf("filled\n");
  else
    printf("refused: %#x\n", (unsigned)result);
  zeCommandListDestroy(list);
  zeContextDestroy(context);
  return result == ZE_RESULT_SUCCESS ? 0 : 1;
}
