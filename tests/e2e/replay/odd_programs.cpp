#include <unistd.h>

#include "small_program.hpp"

namespace small_programs {
namespace {

void no_calls() {}

void only_init() {
  MUST(zeInit(0));
}

// What is asked for before anything else, twice over: how many, then which.
void device_questions() {
  ze_init_driver_type_desc_t wanted = {ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC, nullptr,
                                       ZE_INIT_DRIVER_TYPE_FLAG_GPU};
  uint32_t count = 0;
  MUST(zeInitDrivers(&count, nullptr, &wanted));
  std::vector<ze_driver_handle_t> drivers(count);
  MUST(zeInitDrivers(&count, drivers.data(), &wanted));
  ze_driver_properties_t driver_properties{};
  driver_properties.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES;
  MUST(zeDriverGetProperties(drivers[0], &driver_properties));
  MUST(zeDriverGetExtensionProperties(drivers[0], &(count = 0), nullptr));
  std::vector<ze_driver_extension_properties_t> extensions(count);
  MUST(zeDriverGetExtensionProperties(drivers[0], &count, extensions.data()));
  MUST(zeDeviceGet(drivers[0], &(count = 0), nullptr));
  std::vector<ze_device_handle_t> devices(count);
  MUST(zeDeviceGet(drivers[0], &count, devices.data()));
  ze_device_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
  MUST(zeDeviceGetProperties(devices[0], &properties));
  MUST(zeDeviceGetCommandQueueGroupProperties(devices[0], &(count = 0), nullptr));
  std::vector<ze_command_queue_group_properties_t> groups(count);
  for (auto& each : groups) each.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
  MUST(zeDeviceGetCommandQueueGroupProperties(devices[0], &count, groups.data()));
  MUST(zeDeviceGetMemoryProperties(devices[0], &(count = 0), nullptr));
}

// Calls that are refused, among others that are not.
void failing_calls() {
  const machine m;
  const auto pool = m.pool(1);
  const ze_event_desc_t beyond = {ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 5, 0, 0};
  ze_event_handle_t none = nullptr;
  REFUSED(zeEventCreate(pool, &beyond, &none));
  REFUSED(zeEventCreate(pool, nullptr, &none));
  REFUSED(zeEventQueryStatus(nullptr));
  const auto list = m.list();
  char* memory = m.device_memory();
  MUST(zeCommandListClose(list));
  REFUSED(zeCommandListAppendMemoryCopy(list, memory, nullptr, 8, nullptr, 0, nullptr));
  REFUSED(zeCommandListAppendBarrier(list, nullptr, 1, nullptr));
  void* too_much = nullptr;
  const ze_host_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
  REFUSED(zeMemAllocHost(m.context, &desc, SIZE_MAX, 64, &too_much));
  const auto done = event(pool);
  MUST(zeEventHostSignal(done));
  wait(done);
}

void time_limits() {
  const machine m;
  const auto pool = m.pool();
  const auto never = event(pool), done = event(pool, 1);
  const auto list = m.immediate();
  fill(list, m.device_memory(), 2, page, done, {never});
  if (zeEventHostSynchronize(done, 1'000'000) != ZE_RESULT_NOT_READY) std::exit(3);
  if (zeEventQueryStatus(done) != ZE_RESULT_NOT_READY) std::exit(3);
  if (zeCommandListHostSynchronize(list, 0) != ZE_RESULT_NOT_READY) std::exit(3);
  MUST(zeEventHostSignal(never));
  finish(list);
}

void host_functions() {
  const machine m;
  const auto pool = m.pool();
  const auto done = event(pool);
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  static int called = 0;
  MUST(zeCommandListAppendHostFunction(
      list, [](void* data) { ++*static_cast<int*>(data); }, &called, nullptr, done, 0, nullptr));
  wait(done);
  finish(list);
  if (called != 1) std::exit(3);
}

// The process ends without a word while the device works.
void ends_early() {
  const machine m;
  const auto pool = m.pool();
  const auto list = m.immediate();
  fill(list, m.device_memory(), 2, page, nullptr, {event(pool)});
  _exit(0);
}

constexpr program programs[] = {
    {"no_calls", no_calls},
    {"only_init", only_init},
    {"device_questions", device_questions},
    {"failing_calls", failing_calls},
    {"time_limits", time_limits},
    {"host_functions", host_functions},
    {"ends_early", ends_early},
};

}  // namespace

std::span<const program> odd_programs() {
  return programs;
}

}  // namespace small_programs
