#include <zevent/append_strided_copy.hpp>
#include <zevent/counter_event.hpp>
#include <zevent/event_pool.hpp>
#include <zevent/ipc_event.hpp>
#include <zevent/ipc_transport.hpp>

#include <cstdio>

int main() try {
  ze_driver_handle_t driver = nullptr;
  ze_device_handle_t device = nullptr;
  ze_context_handle_t context = nullptr;
  uint32_t one = 1;
  ze_context_desc_t context_desc{};
  context_desc.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC;
  if (zeInit(0) != ZE_RESULT_SUCCESS || zeDriverGet(&one, &driver) != ZE_RESULT_SUCCESS ||
      zeDeviceGet(driver, &(one = 1), &device) != ZE_RESULT_SUCCESS ||
      zeContextCreate(driver, &context_desc, &context) != ZE_RESULT_SUCCESS) {
    std::puts("no device");
    return 1;
  }
  bool good = false;
  {
    zevent::event_pool events(context, device);
    const zevent::event e = events.acquire();
    e.signal();
    e.wait();
    zevent::counter_event_pool counters(context, device);
    std::printf("counter-based events: %s; shared between processes: %s\n",
                to_string(counters.backing()), zevent::ipc_event::supported(device) ? "yes" : "no");
    const bool genuine = counters.backing() != zevent::counter_backing::regular_events;
    good = genuine && counters.acquire().ready();
  }
  return zeContextDestroy(context) == ZE_RESULT_SUCCESS && good ? 0 : 1;
} catch (const zevent::error& failure) {
  std::puts(failure.what());
  return 1;
}
