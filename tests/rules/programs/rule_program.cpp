#include "rule_program.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <thread>

#include "support/exit_once.hpp"
#include "support/other_thread.hpp"

namespace rule_programs {

void must(ze_result_t result, const char* what) {
  if (result == ZE_RESULT_SUCCESS) return;
  std::fprintf(stderr, "%s: %#x\n", what, static_cast<unsigned>(result));
  exit_once(3);
}

machine::machine() {
  // The old way, which loaders of all versions know.
  MUST(zeInit(0));
  uint32_t count = 1;
  MUST(zeDriverGet(&count, &driver));
  MUST(zeDeviceGet(driver, &(count = 0), nullptr));
  devices.resize(count);
  MUST(zeDeviceGet(driver, &count, devices.data()));
  device = devices.front();
  const ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  MUST(zeContextCreate(driver, &desc, &context));
}

void maybe(ze_result_t result) {
  if (result == ZE_RESULT_ERROR_DEVICE_LOST || result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY ||
      result == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)
    must(result, "a call that may be refused");
}

namespace {

bool all_others_sleep() {
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
    const int thread = std::atoi(each.path().filename().c_str());
    const char state = thread == gettid() ? 'S' : zevent::test::state_of_thread(thread);
    if (state != 'S' && state != '\0') return false;
  }
  return true;
}

uint64_t processor_time_ns() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(used.tv_nsec);
}

}  // namespace

void die_when_stuck() {
  std::signal(SIGALRM, SIG_DFL);
  std::thread([] {
    constexpr int enough_looks = 30;
    constexpr uint64_t spinning_ns = 1'000'000'000;
    const uint64_t end_ns = processor_time_ns() + spinning_ns;
    for (int asleep = 0; asleep < enough_looks && processor_time_ns() < end_ns; usleep(1000))
      asleep = all_others_sleep() ? asleep + 1 : 0;
    kill(getpid(), SIGALRM);
  }).detach();
}

ze_event_pool_handle_t new_pool(machine& m, uint32_t count, ze_event_pool_flags_t flags,
                                const void* next) {
  const ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, next, flags, count};
  ze_event_pool_handle_t pool = nullptr;
  MUST(zeEventPoolCreate(m.context, &desc, 0, nullptr, &pool));
  return pool;
}

ze_event_handle_t new_event(ze_event_pool_handle_t pool, uint32_t index,
                            ze_event_scope_flags_t signal, ze_event_scope_flags_t wait) {
  const ze_event_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, index, signal, wait};
  ze_event_handle_t event = nullptr;
  MUST(zeEventCreate(pool, &desc, &event));
  return event;
}

ze_event_handle_t new_counter_event(machine& m, ze_event_counter_based_flags_t more,
                                    const void* next) {
  ze_event_counter_based_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC, next, 0,
                                        ZE_EVENT_SCOPE_FLAG_HOST, 0};
  desc.flags = ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE | ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE |
               ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE | more;
  ze_event_handle_t event = nullptr;
  MUST(zeEventCounterBasedCreate(m.context, m.device, &desc, &event));
  return event;
}

ze_command_list_handle_t new_list(machine& m, ze_command_list_flags_t flags) {
  const ze_command_list_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, 0, flags};
  ze_command_list_handle_t list = nullptr;
  MUST(zeCommandListCreate(m.context, m.device, &desc, &list));
  return list;
}

ze_command_list_handle_t new_in_order_list(machine& m) {
  return new_list(m, ZE_COMMAND_LIST_FLAG_IN_ORDER);
}

ze_command_list_handle_t new_immediate(machine& m, ze_command_queue_flags_t flags,
                                       ze_command_queue_mode_t mode, ze_device_handle_t device) {
  const ze_command_queue_desc_t desc = {
      ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, nullptr, 0, 0, flags, mode,
      ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
  ze_command_list_handle_t list = nullptr;
  MUST(
      zeCommandListCreateImmediate(m.context, device != nullptr ? device : m.device, &desc, &list));
  return list;
}

ze_command_list_handle_t new_in_order_immediate(machine& m) {
  return new_immediate(m, ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
}

ze_command_queue_handle_t new_queue(machine& m, ze_command_queue_flags_t flags,
                                    ze_command_queue_mode_t mode) {
  const ze_command_queue_desc_t desc = {
      ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, nullptr, 0, 0, flags, mode,
      ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
  ze_command_queue_handle_t queue = nullptr;
  MUST(zeCommandQueueCreate(m.context, m.device, &desc, &queue));
  return queue;
}

ze_fence_handle_t new_fence(ze_command_queue_handle_t queue) {
  const ze_fence_desc_t desc = {ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, 0};
  ze_fence_handle_t fence = nullptr;
  MUST(zeFenceCreate(queue, &desc, &fence));
  return fence;
}

char* new_memory(machine& m, size_t bytes) {
  const ze_device_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0, 0};
  void* memory = nullptr;
  MUST(zeMemAllocDevice(m.context, &desc, bytes, 64, m.device, &memory));
  return static_cast<char*>(memory);
}

char* new_host_memory(machine& m, size_t bytes) {
  const ze_host_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
  void* memory = nullptr;
  MUST(zeMemAllocHost(m.context, &desc, bytes, 64, &memory));
  return static_cast<char*>(memory);
}

void copy(ze_command_list_handle_t list, char* to, const char* from, size_t bytes,
          ze_event_handle_t signal, std::vector<ze_event_handle_t> waits) {
  MUST(zeCommandListAppendMemoryCopy(list, to, from, bytes, signal,
                                     static_cast<uint32_t>(waits.size()),
                                     waits.empty() ? nullptr : waits.data()));
}

void barrier(ze_command_list_handle_t list, ze_event_handle_t signal,
             std::vector<ze_event_handle_t> waits) {
  MUST(zeCommandListAppendBarrier(list, signal, static_cast<uint32_t>(waits.size()),
                                  waits.empty() ? nullptr : waits.data()));
}

void close(ze_command_list_handle_t list) {
  MUST(zeCommandListClose(list));
}

void execute(ze_command_queue_handle_t queue, ze_command_list_handle_t list,
             ze_fence_handle_t fence) {
  MUST(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
}

void finish(ze_command_queue_handle_t queue) {
  MUST(zeCommandQueueSynchronize(queue, for_ever));
}

void finish(ze_command_list_handle_t immediate) {
  MUST(zeCommandListHostSynchronize(immediate, for_ever));
}

void wait(ze_event_handle_t event) {
  MUST(zeEventHostSynchronize(event, for_ever));
}

namespace {

program_list all_programs() {
  program_list all;
  for (const auto group :
       {pool_programs, event_programs, deadlock_programs, order_programs, timestamp_programs,
        list_programs, thread_programs, memory_programs, counter_programs, ipc_programs,
        graph_programs, blocking_programs, bounds_programs, kernel_programs, lifetime_programs,
        driver_programs, result_programs}) {
    const auto more = group();
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

int run(int count, char** arguments) {
  const std::string_view name = count > 1 ? arguments[1] : "";
  const std::string_view kind = count > 2 ? arguments[2] : "";
  for (const auto& each : all_programs()) {
    if (name == "--list") {
      std::printf("%s%s%s\n", each.name, each.broken != nullptr ? " broken" : "",
                  each.legal != nullptr ? " legal" : "");
    } else if (name == each.name) {
      const auto chosen = kind == "broken" ? each.broken : kind == "legal" ? each.legal : nullptr;
      if (chosen == nullptr) break;
      machine m;
      chosen(m);
      return 0;
    }
  }
  if (name == "--list") return 0;
  std::fprintf(stderr, "usage: rule_programs --list | NAME broken|legal\n");
  return 2;
}

}  // namespace
}  // namespace rule_programs

int main(int count, char** arguments) {
  return rule_programs::run(count, arguments);
}
