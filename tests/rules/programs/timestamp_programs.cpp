#include "rule_program.hpp"

namespace rule_programs {
namespace {

constexpr ze_event_pool_flags_t timed =
    ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP;
constexpr ze_event_pool_flags_t mapped =
    ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP;

void time_copy(machine& m, ze_event_pool_flags_t flags) {
  const auto list = new_immediate(m);
  const auto event = new_event(new_pool(m, 1, flags));
  copy(list, new_memory(m), new_memory(m), page, event);
  wait(event);
  ze_kernel_timestamp_result_t times = {};
  maybe(zeEventQueryKernelTimestamp(event, &times));
}

void time_synchronised(machine& m, ze_event_pool_flags_t flags, bool ask_for_count) {
  const auto list = new_immediate(m);
  const auto event = new_event(new_pool(m, 1, flags));
  copy(list, new_memory(m), new_memory(m), page, event);
  wait(event);
  uint32_t count = 0;
  if (ask_for_count)
    maybe(zeEventQueryKernelTimestampsExt(event, m.device, &count, nullptr));
  else
    count = 1;
  ze_kernel_timestamp_result_t kernel[4] = {};
  ze_synchronized_timestamp_result_ext_t synchronised[4] = {};
  ze_event_query_kernel_timestamps_results_ext_properties_t results = {
      ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_RESULTS_EXT_PROPERTIES, nullptr, kernel,
      synchronised};
  maybe(zeEventQueryKernelTimestampsExt(event, m.device, &count, &results));
}

void ask_before_signal(machine& m, bool again) {
  const auto list = new_immediate(m);
  const auto gate = new_event(new_pool(m));
  const auto event = new_event(new_pool(m, 1, timed));
  copy(list, new_memory(m), new_memory(m), page, event, {gate});
  ze_kernel_timestamp_result_t times = {};
  maybe(zeEventQueryKernelTimestamp(event, &times));
  MUST(zeEventHostSignal(gate));
  finish(list);
  if (again) MUST(zeEventQueryKernelTimestamp(event, &times));
  MUST(zeEventHostReset(event));
}

// The same with the function that gives the timestamps of all parts of a device.
void ask_all_before_signal(machine& m, bool again) {
  const auto list = new_immediate(m);
  const auto gate = new_event(new_pool(m));
  const auto event = new_event(new_pool(m, 1, mapped));
  copy(list, new_memory(m), new_memory(m), page, event, {gate});
  uint32_t count = 0;
  maybe(zeEventQueryKernelTimestampsExt(event, m.device, &count, nullptr));
  ze_kernel_timestamp_result_t kernel[4] = {};
  ze_synchronized_timestamp_result_ext_t synchronised[4] = {};
  ze_event_query_kernel_timestamps_results_ext_properties_t results = {
      ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_RESULTS_EXT_PROPERTIES, nullptr, kernel,
      synchronised};
  count = 1;
  maybe(zeEventQueryKernelTimestampsExt(event, m.device, &count, &results));
  MUST(zeEventHostSignal(gate));
  finish(list);
  if (again) MUST(zeEventQueryKernelTimestampsExt(event, m.device, &count, &results));
  MUST(zeEventDestroy(event));
}

// The event is signalled by the next copy before its timestamps were asked for again.
void ask_before_next_signal(machine& m, bool again) {
  const auto list = new_immediate(m);
  const auto gate = new_event(new_pool(m));
  const auto event = new_event(new_pool(m, 1, timed));
  copy(list, new_memory(m), new_memory(m), page, event, {gate});
  ze_kernel_timestamp_result_t times = {};
  maybe(zeEventQueryKernelTimestamp(event, &times));
  MUST(zeEventHostSignal(gate));
  finish(list);
  if (again) MUST(zeEventQueryKernelTimestamp(event, &times));
  copy(list, new_memory(m), new_memory(m), page, event);
  finish(list);
  MUST(zeEventQueryKernelTimestamp(event, &times));
}

// Whether a reset event has timestamps is a question; nothing is under way that would give it any.
void ask_after_reset(machine& m) {
  const auto list = new_immediate(m);
  const auto event = new_event(new_pool(m, 1, timed));
  copy(list, new_memory(m), new_memory(m), page, event);
  wait(event);
  ze_kernel_timestamp_result_t times = {};
  MUST(zeEventQueryKernelTimestamp(event, &times));
  MUST(zeEventHostReset(event));
  maybe(zeEventQueryKernelTimestamp(event, &times));
  MUST(zeEventDestroy(event));
}

void ask_on_device(machine& m, bool wait_for_signal) {
  const auto list = new_immediate(m);
  auto event = new_event(new_pool(m, 1, timed));
  copy(list, new_memory(m), new_memory(m), page, event);
  MUST(zeCommandListAppendQueryKernelTimestamps(list, 1, &event, new_host_memory(m), nullptr,
                                                nullptr, wait_for_signal ? 1 : 0,
                                                wait_for_signal ? &event : nullptr));
  finish(list);
}

void time_signal(machine& m, bool of_command) {
  const auto list = new_immediate(m);
  const auto event = new_event(new_pool(m, 1, timed));
  if (of_command)
    barrier(list, event);
  else
    MUST(zeCommandListAppendSignalEvent(list, event));
  wait(event);
  ze_kernel_timestamp_result_t times = {};
  MUST(zeEventQueryKernelTimestamp(event, &times));
}

// With a counter of a few bits, some copy wraps around.
void time_many(machine& m) {
  const auto list = new_in_order_immediate(m);
  const auto event = new_event(new_pool(m, 1, timed));
  char* to = new_memory(m);
  const char* from = new_memory(m);
  for (int i = 0; i < 200; ++i) {
    copy(list, to, from, page, event);
    wait(event);
    ze_kernel_timestamp_result_t times = {};
    MUST(zeEventQueryKernelTimestamp(event, &times));
    MUST(zeEventHostReset(event));
  }
}

void write_timestamp(machine& m, size_t offset) {
  const auto list = new_immediate(m);
  auto* to = reinterpret_cast<uint64_t*>(new_host_memory(m) + offset);
  maybe(zeCommandListAppendWriteGlobalTimestamp(list, to, nullptr, 0, nullptr));
  finish(list);
}

void write_timestamps_at(machine& m, size_t offset) {
  const auto list = new_immediate(m);
  auto event = new_event(new_pool(m, 1, timed));
  barrier(list, event);
  maybe(zeCommandListAppendQueryKernelTimestamps(list, 1, &event, new_host_memory(m), &offset,
                                                 nullptr, 1, &event));
  finish(list);
}

}  // namespace

program_list timestamp_programs() {
  return {
      {"28", [](machine& m) { time_copy(m, ZE_EVENT_POOL_FLAG_HOST_VISIBLE); },
       [](machine& m) { time_copy(m, timed); }},
      {"28-synchronised", [](machine& m) { time_synchronised(m, timed, true); },
       [](machine& m) { time_synchronised(m, mapped, true); }},
      {"29-host", [](machine& m) { ask_before_signal(m, false); },
       [](machine& m) { ask_before_signal(m, true); }},
      {"29-all", [](machine& m) { ask_all_before_signal(m, false); },
       [](machine& m) { ask_all_before_signal(m, true); }},
      {"29-next", [](machine& m) { ask_before_next_signal(m, false); },
       [](machine& m) { ask_before_next_signal(m, true); }},
      {"29-reset", nullptr, ask_after_reset},
      {"29-device", [](machine& m) { ask_on_device(m, false); },
       [](machine& m) { ask_on_device(m, true); }},
      {"30", [](machine& m) { time_signal(m, false); }, [](machine& m) { time_signal(m, true); }},
      {"31", time_many, nullptr},
      {"31-wide", nullptr, time_many},
      {"32", [](machine& m) { write_timestamp(m, 4); }, [](machine& m) { write_timestamp(m, 8); }},
      {"32-offset", [](machine& m) { write_timestamps_at(m, 6); },
       [](machine& m) { write_timestamps_at(m, 32); }},
      {"33", [](machine& m) { time_synchronised(m, mapped, false); },
       [](machine& m) { time_synchronised(m, mapped, true); }},
  };
}

}  // namespace rule_programs
