// A driver whose device never answers.

#include <level_zero/ze_api.h>
#include <unistd.h>

ze_result_t zeInit(ze_init_flags_t) {
  for (;;) pause();
}
ze_result_t zeDriverGet(uint32_t*, ze_driver_handle_t*) {
  return ZE_RESULT_ERROR_UNINITIALIZED;
}
ze_result_t zeDeviceGet(ze_driver_handle_t, uint32_t*, ze_device_handle_t*) {
  return ZE_RESULT_ERROR_UNINITIALIZED;
}
ze_result_t zeDeviceGetProperties(ze_device_handle_t, ze_device_properties_t*) {
  return ZE_RESULT_ERROR_UNINITIALIZED;
}
