#include "rule_program.hpp"

namespace rule_programs {
namespace {

// A list whose end the host waits for, executed twice.
void execute_twice(machine& m, bool reset) {
  const auto queue = new_queue(m);
  const auto list = new_in_order_list(m);
  const auto event = new_event(new_pool(m));
  copy(list, new_memory(m), new_memory(m), page, event);
  close(list);
  execute(queue, list);
  wait(event);
  if (reset) MUST(zeEventHostReset(event));
  execute(queue, list);
  wait(event);
  finish(queue);
}

// The same inside of the list: the wait is of the command after it.
void execute_twice_with_wait(machine& m, bool reset) {
  const auto queue = new_queue(m);
  const auto list = new_list(m);
  const auto event = new_event(new_pool(m));
  const auto memory = new_memory(m);
  if (reset) {
    MUST(zeCommandListAppendEventReset(list, event));
    barrier(list);
  }
  copy(list, memory, new_memory(m), page, event);
  copy(list, new_memory(m), memory, page, nullptr, {event});
  close(list);
  execute(queue, list);
  finish(queue);
  execute(queue, list);
  finish(queue);
}

// Signalling a signalled event is legal: nobody waits for it here.
void signal_twice(machine& m) {
  const auto list = new_in_order_immediate(m);
  const auto event = new_event(new_pool(m));
  copy(list, new_memory(m), new_memory(m), page, event);
  wait(event);
  copy(list, new_memory(m), new_memory(m), page, event);
  finish(list);
  MUST(zeEventHostSignal(event));
}

void reset_event(machine& m, bool wait_first) {
  const auto list = new_immediate(m);
  const auto event = new_event(new_pool(m));
  copy(list, new_memory(m), new_memory(m), page, event);
  if (wait_first) wait(event);
  MUST(zeEventHostReset(event));
  finish(list);
}

// The reset comes before what it could race with is able to start.
void reset_before_start(machine& m) {
  const auto list = new_immediate(m);
  const auto pool = new_pool(m);
  const auto gate = new_event(pool, 0), event = new_event(pool, 1);
  copy(list, new_memory(m), new_memory(m), page, event, {gate});
  MUST(zeEventHostReset(event));
  MUST(zeEventHostSignal(gate));
  finish(list);
}

void reset_on_device(machine& m, bool ordered) {
  const auto list = new_immediate(m);
  const auto event = new_event(new_pool(m));
  copy(list, new_memory(m), new_memory(m), page, event);
  if (ordered) barrier(list);
  MUST(zeCommandListAppendEventReset(list, event));
  finish(list);
}

// Two lists that are not in-order hand an event to each other and back. What is only about events
// is done in the order of the list.
void hand_over(machine& m) {
  const auto here = new_immediate(m), there = new_immediate(m);
  const auto pool = new_pool(m);
  auto given = new_event(pool, 0), back = new_event(pool, 1);
  for (int round = 0; round < 3; ++round) {
    MUST(zeCommandListAppendWaitOnEvents(there, 1, &given));
    MUST(zeCommandListAppendEventReset(there, given));
    MUST(zeCommandListAppendSignalEvent(there, back));
    MUST(zeCommandListAppendSignalEvent(here, given));
    MUST(zeCommandListAppendWaitOnEvents(here, 1, &back));
    MUST(zeCommandListAppendEventReset(here, back));
  }
  finish(here);
  finish(there);
}

void use_other_context(machine& m, bool other) {
  machine second = m;
  const ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  MUST(zeContextCreate(m.driver, &desc, &second.context));
  const auto event = new_event(new_pool(other ? second : m));
  const auto list = new_immediate(m);
  maybe(zeCommandListAppendBarrier(list, event, 0, nullptr));
  finish(list);
}

void query_event(machine& m, ze_event_pool_flags_t flags) {
  const auto event = new_event(new_pool(m, 1, flags));
  maybe(zeEventQueryStatus(event));
}

// Asks for an event that cannot be ready, and goes on or asks again.
void ask_once(machine& m, bool again) {
  const auto list = new_immediate(m);
  const auto pool = new_pool(m);
  const auto gate = new_event(pool, 0), event = new_event(pool, 1);
  copy(list, new_memory(m), new_memory(m), page, event, {gate});
  maybe(zeEventHostSynchronize(event, 0));
  MUST(zeEventHostSignal(gate));
  if (again) wait(event);
  MUST(zeEventHostReset(event));
  finish(list);
}

// The same, and what comes next frees the copy's memory, or reads what it writes.
enum class next_use { free, copy };
void ask_once_and_use(machine& m, next_use use, bool again) {
  const auto list = new_immediate(m), other = new_immediate(m);
  const auto pool = new_pool(m);
  const auto gate = new_event(pool, 0), event = new_event(pool, 1);
  char* memory = new_memory(m);
  copy(list, memory, new_memory(m), page, event, {gate});
  maybe(zeEventHostSynchronize(event, 0));
  MUST(zeEventHostSignal(gate));
  if (again) wait(event);
  if (use == next_use::copy)
    copy(other, new_memory(m), memory);
  else
    MUST(zeMemFree(m.context, memory));
  finish(list);
  finish(other);
}

// Asks once, but the list is waited for before the memory is freed.
void ask_once_and_wait_for_list(machine& m) {
  const auto list = new_immediate(m);
  const auto pool = new_pool(m);
  const auto gate = new_event(pool, 0), event = new_event(pool, 1);
  char* memory = new_memory(m);
  copy(list, memory, new_memory(m), page, event, {gate});
  maybe(zeEventHostSynchronize(event, 0));
  MUST(zeEventHostSignal(gate));
  finish(list);
  MUST(zeMemFree(m.context, memory));
  MUST(zeEventDestroy(event));
}

}  // namespace

program_list event_programs() {
  return {
      {"10", [](machine& m) { execute_twice(m, false); },
       [](machine& m) { execute_twice(m, true); }},
      {"10-command", [](machine& m) { execute_twice_with_wait(m, false); },
       [](machine& m) { execute_twice_with_wait(m, true); }},
      {"10-signalled", nullptr, signal_twice},
      {"11", [](machine& m) { reset_event(m, false); }, [](machine& m) { reset_event(m, true); }},
      {"11-early", nullptr, reset_before_start},
      {"11-handed", nullptr, hand_over},
      {"11-device", [](machine& m) { reset_on_device(m, false); },
       [](machine& m) { reset_on_device(m, true); }},
      {"15", [](machine& m) { use_other_context(m, true); },
       [](machine& m) { use_other_context(m, false); }},
      {"16",
       [](machine& m) {
         const auto list = new_immediate(m);
         maybe(zeCommandListAppendBarrier(list, nullptr, 1, nullptr));
         finish(list);
       },
       [](machine& m) {
         const auto list = new_immediate(m);
         MUST(zeCommandListAppendBarrier(list, nullptr, 0, nullptr));
         finish(list);
       }},
      {"17", [](machine& m) { query_event(m, 0); },
       [](machine& m) { query_event(m, ZE_EVENT_POOL_FLAG_HOST_VISIBLE); }},
      {"18", [](machine& m) { ask_once(m, false); }, [](machine& m) { ask_once(m, true); }},
      {"18-free", [](machine& m) { ask_once_and_use(m, next_use::free, false); },
       [](machine& m) { ask_once_and_use(m, next_use::free, true); }},
      {"18-use", [](machine& m) { ask_once_and_use(m, next_use::copy, false); },
       [](machine& m) { ask_once_and_use(m, next_use::copy, true); }},
      {"18-list", nullptr, ask_once_and_wait_for_list},
      {"20",
       [](machine& m) {
         ze_event_handle_t event = new_event(new_pool(m));
         maybe(zeCommandListAppendWaitOnEvents(new_list(m), 0, &event));
       },
       [](machine& m) {
         ze_event_handle_t event = new_event(new_pool(m));
         maybe(zeCommandListAppendWaitOnEvents(new_list(m), 1, &event));
       }},
      {"21",
       [](machine& m) {
         const auto event = new_event(new_pool(m));
         barrier(new_list(m), event, {event});
       },
       // A counter-based event is waited for as it was before.
       [](machine& m) {
         const auto event = new_counter_event(m);
         barrier(new_in_order_list(m), event, {event});
       }},
  };
}

}  // namespace rule_programs
