#include <atomic>
#include <cstring>

#include "api/zex_api.h"
#include "small_program.hpp"

namespace small_programs {
namespace {

void event_chain() {
  const machine m;
  const auto pool = m.pool();
  const auto list = m.immediate();
  char* memory = m.shared_memory(4 * page);
  std::vector<ze_event_handle_t> chain;
  for (uint32_t i = 0; i < 4; ++i) {
    chain.push_back(event(pool, i, ZE_EVENT_SCOPE_FLAG_DEVICE));
    if (i == 0) {
      fill(list, memory, 1, page, chain[0]);
    } else {
      copy(list, memory + i * page, memory + (i - 1) * page, page, chain[i], {chain[i - 1]});
    }
  }
  wait(chain.back());
  finish(list);
}

void event_reset() {
  const machine m;
  const auto done = event(m.pool());
  const auto list = m.immediate();
  char* memory = m.shared_memory();
  for (uint32_t i = 0; i < 3; ++i) {
    fill(list, memory, i, page, done);
    wait(done);
    MUST(zeEventHostReset(done));
  }
  fill(list, memory, 9, page, done);
  wait(done);
  MUST(zeCommandListAppendEventReset(list, done));
  finish(list);
}

void host_signal() {
  const machine m;
  const auto pool = m.pool();
  const auto go = event(pool), done = event(pool, 1);
  const auto list = m.immediate();
  fill(list, m.shared_memory(), 2, page, done, {go});
  MUST(zeEventHostSignal(go));
  wait(done);
  finish(list);
}

// A copy is submitted, waits for the host, and reads what the host has written since.
void written_before_host_signal() {
  const machine m;
  const auto pool = m.pool();
  const auto go = event(pool), done = event(pool, 1);
  const auto list = m.immediate();
  auto* from = static_cast<char*>(m.shared_memory());
  auto* to = static_cast<char*>(m.shared_memory());
  std::memset(from, 1, page);
  copy(list, to, from, page, done, {go});
  std::memset(from, 2, page);
  MUST(zeEventHostSignal(go));
  wait(done);
  if (to[0] != 2) exit_once(4);
  finish(list);
}

void signal_and_wait_commands() {
  const machine m;
  const auto pool = m.pool();
  auto one = event(pool);
  const auto done = event(pool, 1);
  const auto list = m.immediate(), other = m.immediate();
  MUST(zeCommandListAppendWaitOnEvents(other, 1, &one));
  MUST(zeCommandListAppendSignalEvent(other, done));
  MUST(zeCommandListAppendSignalEvent(list, one));
  wait(done);
  finish(list);
  finish(other);
}

// Until the event is there, however often that is.
void polling() {
  const machine m;
  const auto done = event(m.pool());
  const auto list = m.immediate();
  fill(list, m.shared_memory(), 2, page, done);
  while (zeEventQueryStatus(done) == ZE_RESULT_NOT_READY) {
  }
  finish(list);
}

void kernel_timestamps() {
  const machine m;
  const auto pool =
      m.pool(4, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
  ze_event_handle_t events[] = {event(pool), event(pool, 1)};
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  char* memory = m.host_memory();
  const size_t offsets[] = {0, 512};
  fill(list, m.shared_memory(), 1, page, events[0]);
  fill(list, m.shared_memory(), 2, page, events[1]);
  MUST(zeCommandListAppendQueryKernelTimestamps(list, 2, events, memory, offsets, nullptr, 0,
                                                nullptr));
  MUST(zeCommandListAppendWriteGlobalTimestamp(list, reinterpret_cast<uint64_t*>(memory + 1024),
                                               nullptr, 0, nullptr));
  finish(list);
  ze_kernel_timestamp_result_t times{};
  MUST(zeEventQueryKernelTimestamp(events[0], &times));
}

void mapped_timestamps() {
  const machine m;
  const auto pool =
      m.pool(1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP);
  const auto done = event(pool);
  const auto list = m.immediate();
  fill(list, m.shared_memory(), 1, page, done);
  wait(done);
  uint32_t count = 0;
  MUST(zeEventQueryKernelTimestampsExt(done, m.device, &count, nullptr));
  // A device of several tiles has a time of each.
  std::vector<ze_kernel_timestamp_result_t> times(count);
  std::vector<ze_synchronized_timestamp_result_ext_t> both(count);
  ze_event_query_kernel_timestamps_results_ext_properties_t results{};
  results.stype = ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_RESULTS_EXT_PROPERTIES;
  results.pKernelTimestampsBuffer = times.data();
  results.pSynchronizedTimestampsBuffer = both.data();
  MUST(zeEventQueryKernelTimestampsExt(done, m.device, &count, &results));
}

void global_timestamps() {
  const machine m;
  uint64_t host = 0, device = 0;
  for (int i = 0; i < 20; ++i) MUST(zeDeviceGetGlobalTimestamps(m.device, &host, &device));
}

void counter_events() {
  const machine m;
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  const auto other = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  const auto one = m.counter_event(), two = m.counter_event();
  char* memory = m.shared_memory(2 * page);
  for (uint32_t i = 0; i < 3; ++i) {
    fill(list, memory, i, page, one);
    copy(other, memory + page, memory, page, two, {one});
    wait(two);
  }
  MUST(zeEventDestroy(one));
  MUST(zeEventDestroy(two));
}

void counter_event_of_regular_list() {
  const machine m;
  const auto list = m.list(ZE_COMMAND_LIST_FLAG_IN_ORDER);
  const auto done = m.counter_event();
  fill(list, m.shared_memory(), 4, page, done);
  MUST(zeCommandListClose(list));
  const auto queue = m.queue();
  for (int i = 0; i < 2; ++i) {
    execute(queue, list);
    wait(done);
  }
  finish(queue);
}

void counter_event_pool() {
  const machine m;
  const ze_event_pool_counter_based_exp_desc_t next = {
      ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC, nullptr,
      ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_IMMEDIATE |
          ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_NON_IMMEDIATE};
  const auto done = event(m.pool(2, ZE_EVENT_POOL_FLAG_HOST_VISIBLE, &next));
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  fill(list, m.shared_memory(), 4, page, done);
  wait(done);
}

template <typename Function>
Function by_name(const machine& m, const char* name) {
  void* address = nullptr;
  MUST(zeDriverGetExtensionFunctionAddress(m.driver, name, &address));
  Function found = nullptr;
  std::memcpy(&found, &address, sizeof(found));
  return found;
}

void counter_event_by_name() {
  const machine m;
  const auto create =
      by_name<decltype(&zexCounterBasedEventCreate2)>(m, "zexCounterBasedEventCreate2");
  const auto address_of =
      by_name<decltype(&zexEventGetDeviceAddress)>(m, "zexEventGetDeviceAddress");
  const zex_counter_based_event_desc_t desc = {
      ZEX_STRUCTURE_TYPE_COUNTER_BASED_EVENT_DESC, nullptr,
      ZEX_COUNTER_BASED_EVENT_FLAG_IMMEDIATE | ZEX_COUNTER_BASED_EVENT_FLAG_HOST_VISIBLE,
      ZE_EVENT_SCOPE_FLAG_HOST, 0};
  ze_event_handle_t done = nullptr;
  MUST(create(m.context, m.device, &desc, &done));
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  fill(list, m.shared_memory(), 4, page, done);
  uint64_t value = 0, address = 0;
  MUST(address_of(done, &value, &address));
  wait(done);
}

void external_counter() {
  const machine m;
  auto* counter = reinterpret_cast<uint64_t*>(m.host_memory());
  counter[0] = 0;
  const ze_event_counter_based_external_sync_allocation_desc_t next = {
      ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_SYNC_ALLOCATION_DESC, nullptr, counter,
      counter, 3};
  const auto done = m.counter_event(0, &next);
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  counter[0] = 3;
  copy(list, m.shared_memory(), counter, 64, nullptr, {done});
  finish(list);
}

// The host writes the counter while a command waits for it.
void external_counter_written_later() {
  const machine m;
  auto* counter = reinterpret_cast<uint64_t*>(m.host_memory());
  counter[0] = 0;
  const ze_event_counter_based_external_sync_allocation_desc_t next = {
      ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_SYNC_ALLOCATION_DESC, nullptr, counter,
      counter, 3};
  const auto go = m.counter_event(0, &next);
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  const auto done = m.counter_event();
  fill(list, m.shared_memory(), 7, page, done, {go});
  if (zeEventQueryStatus(done) != ZE_RESULT_NOT_READY) std::exit(3);
  std::atomic_ref<uint64_t>(*counter).store(3);
  wait(done);
  finish(list);
}

void aggregate_counter() {
  const machine m;
  auto* counter = reinterpret_cast<uint64_t*>(m.shared_memory());
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  const auto other = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  fill(list, counter, 0, 64);
  finish(list);
  const ze_event_counter_based_external_aggregate_storage_desc_t next = {
      ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_AGGREGATE_STORAGE_DESC, nullptr, counter, 1,
      2};
  const auto done = m.counter_event(0, &next);
  char* memory = m.shared_memory(2 * page);
  fill(list, memory, 1, page, done);
  fill(other, memory + page, 2, page, done);
  wait(done);
  finish(list);
  finish(other);
}

void ipc_of_its_own() {
  const machine m;
  const auto pool = m.pool(2, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_IPC);
  const auto done = event(pool);
  ze_ipc_event_pool_handle_t handle{};
  MUST(zeEventPoolGetIpcHandle(pool, &handle));
  ze_event_pool_handle_t opened = nullptr;
  MUST(zeEventPoolOpenIpcHandle(m.context, handle, &opened));
  const auto same = event(opened);
  MUST(zeEventHostSignal(done));
  wait(same);
  MUST(zeEventDestroy(same));
  MUST(zeEventPoolCloseIpcHandle(opened));
}

void ipc_counter_event_of_its_own() {
  const machine m;
  const auto done = m.counter_event(ZE_EVENT_COUNTER_BASED_FLAG_IPC);
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  fill(list, m.shared_memory(), 4, page, done);
  ze_ipc_event_counter_based_handle_t handle{};
  MUST(zeEventCounterBasedGetIpcHandle(done, &handle));
  ze_event_handle_t opened = nullptr;
  MUST(zeEventCounterBasedOpenIpcHandle(m.context, handle, &opened));
  wait(opened);
  MUST(zeEventCounterBasedCloseIpcHandle(opened));
}

void event_questions() {
  const machine m;
  const auto pool = m.pool();
  const auto one = event(pool, 3, ZE_EVENT_SCOPE_FLAG_DEVICE, ZE_EVENT_SCOPE_FLAG_HOST);
  ze_event_pool_handle_t owner = nullptr;
  ze_context_handle_t context = nullptr;
  ze_event_scope_flags_t scope = 0;
  ze_event_pool_flags_t flags = 0;
  MUST(zeEventGetEventPool(one, &owner));
  MUST(zeEventGetSignalScope(one, &scope));
  MUST(zeEventGetWaitScope(one, &scope));
  MUST(zeEventPoolGetContextHandle(owner, &context));
  MUST(zeEventPoolGetFlags(owner, &flags));
}

constexpr program programs[] = {
    {"event_chain", event_chain},
    {"event_reset", event_reset},
    {"host_signal", host_signal},
    {"written_before_host_signal", written_before_host_signal},
    {"signal_and_wait_commands", signal_and_wait_commands},
    {"polling", polling},
    {"kernel_timestamps", kernel_timestamps},
    {"mapped_timestamps", mapped_timestamps},
    {"global_timestamps", global_timestamps},
    {"counter_events", counter_events},
    {"counter_event_of_regular_list", counter_event_of_regular_list},
    {"counter_event_pool", counter_event_pool},
    {"counter_event_by_name", counter_event_by_name},
    {"external_counter", external_counter},
    {"external_counter_written_later", external_counter_written_later},
    {"aggregate_counter", aggregate_counter},
    {"ipc_of_its_own", ipc_of_its_own},
    {"ipc_counter_event_of_its_own", ipc_counter_event_of_its_own},
    {"event_questions", event_questions},
};

}  // namespace

std::span<const program> event_programs() {
  return programs;
}

}  // namespace small_programs
