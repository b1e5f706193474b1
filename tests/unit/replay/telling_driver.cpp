// A Level Zero driver that does next to nothing and writes down, in the file that ZEVENT_TEST_LOG
// names, what it was told. Objects are numbered as they come; memory is shown by its number and the
// offset into it.
#include <fmt/format.h>
#include <level_zero/ze_api.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace {

std::mutex guard;                                     // of everything below
std::map<uint64_t, std::pair<int, uint64_t>> memory;  // address → number, bytes
int memories = 0;

void tell(const std::string& line) {
  static std::FILE* log = std::fopen(std::getenv("ZEVENT_TEST_LOG"), "a");
  std::fprintf(log, "%s\n", line.c_str());
  std::fflush(log);
}

struct object {
  std::string name;
  std::atomic<bool> signalled{false};
};

// A handle's value is never used twice, unlike in the recordings of the tests.
template <typename Handle>
Handle make(const std::string& kind) {
  static std::map<std::string, int> counts;
  return reinterpret_cast<Handle>(new object{fmt::format("{}{}", kind, counts[kind]++)});
}

template <typename Handle>
std::string name(Handle handle) {
  return handle == nullptr ? "null" : reinterpret_cast<object*>(handle)->name;
}

std::string place(const void* pointer) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  auto after = memory.upper_bound(address);
  if (after == memory.begin()) return "host";
  const auto& [begin, known] = *std::prev(after);
  return address - begin < known.second ? fmt::format("memory{}+{}", known.first, address - begin)
                                        : "host";
}

}  // namespace

extern "C" {

ZE_APIEXPORT ze_result_t ZE_APICALL zeInit(ze_init_flags_t flags) {
  while (std::getenv("ZEVENT_TEST_INIT_HANGS") != nullptr) pause();
  const std::lock_guard lock(guard);
  tell(fmt::format("init {}", flags));
  return ZE_RESULT_SUCCESS;
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeDriverGet(uint32_t* count, ze_driver_handle_t* drivers) {
  static const auto only = make<ze_driver_handle_t>("driver");
  if (drivers != nullptr && *count != 0) drivers[0] = only;
  *count = 1;
  return ZE_RESULT_SUCCESS;
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeDeviceGet(ze_driver_handle_t, uint32_t* count,
                                                ze_device_handle_t* devices) {
  static const ze_device_handle_t both[] = {make<ze_device_handle_t>("device"),
                                            make<ze_device_handle_t>("device")};
  for (uint32_t i = 0; devices != nullptr && i < *count && i < 2; ++i) devices[i] = both[i];
  *count = 2;
  return ZE_RESULT_SUCCESS;
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeDeviceGetProperties(ze_device_handle_t,
                                                          ze_device_properties_t* properties) {
  properties->maxMemAllocSize = 1 << 20;
  return ZE_RESULT_SUCCESS;
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeDeviceGetCommandQueueGroupProperties(
    ze_device_handle_t, uint32_t* count, ze_command_queue_group_properties_t* properties) {
  if (properties != nullptr && *count != 0) properties[0].numQueues = 1;
  *count = 1;
  return ZE_RESULT_SUCCESS;
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeContextCreate(ze_driver_handle_t,
                                                    const ze_context_desc_t* desc,
                                                    ze_context_handle_t* context) {
  const std::lock_guard lock(guard);
  *context = make<ze_context_handle_t>("context");
  tell(fmt::format("{} flags {}", name(*context), desc->flags));
  return ZE_RESULT_SUCCESS;
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeEventPoolCreate(ze_context_handle_t context,
                                                      const ze_event_pool_desc_t* desc,
                                                      uint32_t devices,
                                                      ze_device_handle_t* device_list,
                                                      ze_event_pool_handle_t* pool) {
  const std::lock_guard lock(guard);
  *pool = make<ze_event_pool_handle_t>("pool");
  std::string text = fmt::format("{} in {} count {} flags {}", name(*pool), name(context),
                                 desc->count, desc->flags);
  const auto* next = static_cast<const ze_event_pool_counter_based_exp_desc_t*>(desc->pNext);
  if (next != nullptr) text += fmt::format(" next {:#x} flags {}", next->stype, next->flags);
  for (uint32_t i = 0; i < devices; ++i) text += " on " + name(device_list[i]);
  tell(text);
  return ZE_RESULT_SUCCESS;
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeEventCreate(ze_event_pool_handle_t pool,
                                                  const ze_event_desc_t* desc,
                                                  ze_event_handle_t* event) {
  const std::lock_guard lock(guard);
  if (desc->index == 13) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  *event = make<ze_event_handle_t>("event");
  tell(fmt::format("{} in {} index {}", name(*event), name(pool), desc->index));
  return ZE_RESULT_SUCCESS;
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeEventDestroy(ze_event_handle_t event) {
  const std::lock_guard lock(guard);
  tell("destroy " + name(event));
  return ZE_RESULT_SUCCESS;
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeEventHostSignal(ze_event_handle_t event) {
  const std::lock_guard lock(guard);
  tell("signal " + name(event));
  reinterpret_cast<object*>(event)->signalled = true;
  return ZE_RESULT_SUCCESS;
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeEventHostSynchronize(ze_event_handle_t event, uint64_t) {
  while (!reinterpret_cast<object*>(event)->signalled) std::this_thread::yield();
  const std::lock_guard lock(guard);
  tell("waited for " + name(event));
  return ZE_RESULT_SUCCESS;
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeEventQueryStatus(ze_event_handle_t event) {
  const auto& signalled = reinterpret_cast<object*>(event)->signalled;
  {
    const std::lock_guard lock(guard);
    tell("query " + name(event));
  }
  // As a driver that blocks where it should not.
  while (std::getenv("ZEVENT_TEST_QUERY_BLOCKS") != nullptr && !signalled)
    std::this_thread::yield();
  // As a device that is done when it has been asked so often.
  static std::atomic<int> asks{0};
  const char* done_after = std::getenv("ZEVENT_TEST_DONE_AFTER_ASKS");
  if (done_after != nullptr && ++asks >= std::atoi(done_after)) return ZE_RESULT_SUCCESS;
  return signalled ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeMemAllocHost(ze_context_handle_t,
                                                   const ze_host_mem_alloc_desc_t*, size_t bytes,
                                                   size_t, void** pointer) {
  const std::lock_guard lock(guard);
  *pointer = std::calloc(bytes, 1);
  memory[reinterpret_cast<uint64_t>(*pointer)] = {memories, bytes};
  tell(fmt::format("memory{} of {} bytes", memories++, bytes));
  return ZE_RESULT_SUCCESS;
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeMemFree(ze_context_handle_t, void* pointer) {
  const std::lock_guard lock(guard);
  tell("free " + place(pointer));
  return ZE_RESULT_SUCCESS;
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeMemGetIpcHandle(ze_context_handle_t, const void* pointer,
                                                      ze_ipc_mem_handle_t* handle) {
  const std::lock_guard lock(guard);
  std::memset(handle, 0, sizeof(*handle));
  std::memcpy(handle, &pointer, sizeof(pointer));
  tell("handle of " + place(pointer));
  return ZE_RESULT_SUCCESS;
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeMemOpenIpcHandle(ze_context_handle_t, ze_device_handle_t,
                                                       ze_ipc_mem_handle_t handle,
                                                       ze_ipc_memory_flags_t, void** pointer) {
  const std::lock_guard lock(guard);
  std::memcpy(pointer, &handle, sizeof(*pointer));
  tell("opened " + place(*pointer));
  return ZE_RESULT_SUCCESS;
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeCommandListCreateImmediate(ze_context_handle_t,
                                                                 ze_device_handle_t,
                                                                 const ze_command_queue_desc_t*,
                                                                 ze_command_list_handle_t* list) {
  const std::lock_guard lock(guard);
  *list = make<ze_command_list_handle_t>("list");
  return ZE_RESULT_SUCCESS;
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeCommandListAppendMemoryCopy(
    ze_command_list_handle_t list, void* to, const void* from, size_t bytes,
    ze_event_handle_t signal, uint32_t waits, ze_event_handle_t* wait_events) {
  const std::lock_guard lock(guard);
  std::string text = fmt::format("{}: copy {} to {}", name(list), place(from), place(to));
  text += fmt::format(" '{}'", std::string(static_cast<const char*>(from), bytes));
  text += " signals " + name(signal);
  for (uint32_t i = 0; i < waits; ++i) text += " waits for " + name(wait_events[i]);
  tell(text);
  std::memcpy(to, from, bytes);
  return ZE_RESULT_SUCCESS;
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeKernelSetArgumentValue(ze_kernel_handle_t, uint32_t index,
                                                             size_t bytes, const void* value) {
  const std::lock_guard lock(guard);
  std::string text = fmt::format("argument {} of {} bytes:", index, bytes);
  for (size_t i = 0; value != nullptr && i + 8 <= bytes; i += 8) {
    void* pointer = nullptr;
    std::memcpy(&pointer, static_cast<const char*>(value) + i, sizeof(pointer));
    const auto where = place(pointer);
    text += " " + (where == "host" ? std::to_string(reinterpret_cast<uint64_t>(pointer)) : where);
  }
  tell(text);
  return ZE_RESULT_SUCCESS;
}

// The names of functions that are found by name begin to matter only then.
ZE_APIEXPORT ze_result_t ZE_APICALL zeContextSystemBarrier(ze_context_handle_t,
                                                           ze_device_handle_t) {
  if (std::getenv("ZEVENT_TEST_BARRIER_EXITS") != nullptr) _exit(0);
  std::abort();
}

}  // extern "C"
