// A driver that is not zevent's, with a handful of functions and bad manners: what the tests of the
// recorder put behind it. It is found by ZEVENT_DRIVER.

#include "other_driver.hpp"

#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

namespace {

using namespace zevent::recorder_test;

constexpr uint32_t newest_version = ZE_API_VERSION_CURRENT + 1;

ze_result_t init(ze_init_flags_t) {
  return ZE_RESULT_SUCCESS;
}

ze_result_t query_status(ze_event_handle_t event) {
  switch (static_cast<misdeed>(reinterpret_cast<uintptr_t>(event))) {
    case misdeed::crash:
      std::raise(SIGSEGV);
      break;
    case misdeed::abort:
      std::abort();
    case misdeed::exit:
      std::_Exit(7);
    case misdeed::hang:
      while (true) pause();
    case misdeed::call_back:
      // A driver that calls the API in the middle of a call.
      return callback_of_driver != nullptr ? callback_of_driver() : ZE_RESULT_ERROR_UNKNOWN;
  }
  return ZE_RESULT_NOT_READY;
}

// Gives the same address out again and again.
ze_result_t create_event(ze_event_pool_handle_t, const ze_event_desc_t*, ze_event_handle_t* event) {
  *event = recycled_event;
  return ZE_RESULT_SUCCESS;
}

ze_result_t destroy_event(ze_event_handle_t) {
  return ZE_RESULT_SUCCESS;
}

uint64_t future_function(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
                         uint64_t g, double h) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + static_cast<uint64_t>(8 * h);
}

ze_result_t aggregate_increment(ze_device_handle_t, uint32_t* value) {
  *value = 77;
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_extension_function(ze_driver_handle_t, const char* name, void** address) {
  *address = nullptr;
  if (std::strcmp(name, "zeFutureFunction") == 0)
    *address = reinterpret_cast<void*>(&future_function);
  if (std::strcmp(name, "zexDeviceGetAggregatedCopyOffloadIncrementValue") == 0)
    *address = reinterpret_cast<void*>(&aggregate_increment);
  return *address != nullptr ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t table_result(ze_api_version_t version) {
  return static_cast<uint32_t>(version) <= newest_version ? ZE_RESULT_SUCCESS
                                                          : ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
}

}  // namespace

ze_result_t (*callback_of_driver)() = nullptr;

ze_result_t zeGetGlobalProcAddrTable(ze_api_version_t version, ze_global_dditable_t* table) {
  table->pfnInit = init;
  return table_result(version);
}

ze_result_t zeGetDriverProcAddrTable(ze_api_version_t version, ze_driver_dditable_t* table) {
  if (version >= ZE_API_VERSION_1_1) table->pfnGetExtensionFunctionAddress = get_extension_function;
  // A version that came after the recorder was built has one more slot.
  if (version > ZE_API_VERSION_CURRENT)
    reinterpret_cast<void**>(table)[sizeof(*table) / sizeof(void*)] =
        reinterpret_cast<void*>(&future_function);
  return table_result(version);
}

ze_result_t zeGetEventProcAddrTable(ze_api_version_t version, ze_event_dditable_t* table) {
  table->pfnCreate = create_event;
  table->pfnDestroy = destroy_event;
  table->pfnQueryStatus = query_status;
  return table_result(version);
}
