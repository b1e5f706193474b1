#include "rule_program.hpp"

namespace rule_programs {
namespace {

void signal_from(machine& m, ze_command_list_handle_t list, ze_event_handle_t event) {
  maybe(zeCommandListAppendMemoryCopy(list, new_memory(m), new_memory(m), page, event, 0, nullptr));
  finish(list);
}

ze_event_handle_t new_flagged(machine& m, ze_event_counter_based_flags_t flags) {
  const ze_event_counter_based_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC, nullptr,
                                              flags, 0, 0};
  ze_event_handle_t event = nullptr;
  maybe(zeEventCounterBasedCreate(m.context, m.device, &desc, &event));
  return event;
}

// An event of a pool of the older extension.
ze_event_handle_t new_pool_counter_event(machine& m) {
  const ze_event_pool_counter_based_exp_desc_t counters = {
      ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC, nullptr,
      ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_IMMEDIATE |
          ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_NON_IMMEDIATE};
  return new_event(new_pool(m, 1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE, &counters));
}

// Reuses an event without a reset, on several lists, without waiting: all of it is allowed.
void reuse(machine& m) {
  const auto one = new_in_order_immediate(m), two = new_in_order_immediate(m);
  const auto any = new_immediate(m);
  const auto event = new_counter_event(m);
  char* first = new_memory(m);
  char* second = new_memory(m);
  copy(one, first, new_memory(m), page, event);
  copy(any, new_memory(m), first, page, nullptr, {event});
  copy(two, second, new_memory(m), page, event);
  copy(any, new_memory(m), second, page, nullptr, {event});
  wait(event);
  finish(one);
  finish(any);
}

void wait_and_signal(machine& m, bool signal_first, bool signalled_before) {
  const auto one = new_in_order_immediate(m), two = new_in_order_immediate(m);
  const auto event = new_counter_event(m);
  char* middle = new_memory(m);
  if (signalled_before) copy(one, new_memory(m), new_memory(m), page, event);
  if (signal_first) copy(one, middle, new_memory(m), page, event);
  copy(two, new_memory(m), middle, page, nullptr, {event});
  if (!signal_first) copy(one, middle, new_memory(m), page, event);
  finish(one);
  finish(two);
}

// Producer and consumer are executed twice; the second time in the wrong order, or in the right
// one.
void execute_twice(machine& m, bool right_order) {
  const auto producers = new_queue(m), consumers = new_queue(m);
  const auto producer = new_in_order_list(m), consumer = new_in_order_list(m);
  const auto event = new_counter_event(m);
  char* middle = new_memory(m);
  copy(producer, middle, new_memory(m), page, event);
  copy(consumer, new_memory(m), middle, page, nullptr, {event});
  close(producer);
  close(consumer);
  execute(producers, producer);
  execute(consumers, consumer);
  finish(producers);
  finish(consumers);
  if (right_order) execute(producers, producer);
  execute(consumers, consumer);
  if (!right_order) execute(producers, producer);
  finish(producers);
  finish(consumers);
}

void keep_address(machine& m, bool signal_again) {
  const auto list = new_in_order_immediate(m);
  const auto event = new_counter_event(m);
  uint64_t value = 0, address = 0, most = 0;
  MUST(zeDeviceGetCounterBasedEventMaxValue(m.device, &most));
  copy(list, new_memory(m), new_memory(m), page, event);
  MUST(zeEventCounterBasedGetDeviceAddress(event, &value, &address));
  if (signal_again) copy(list, new_memory(m), new_memory(m), page, event);
  ze_event_counter_based_external_sync_allocation_desc_t storage = {
      ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_SYNC_ALLOCATION_DESC, nullptr,
      reinterpret_cast<uint64_t*>(address), reinterpret_cast<uint64_t*>(address), value};
  new_counter_event(m, 0, &storage);
  finish(list);
}

void store_outside(machine& m, bool known_memory, bool within_limit) {
  uint64_t most = 0;
  MUST(zeDeviceGetCounterBasedEventMaxValue(m.device, &most));
  static uint64_t elsewhere[2] = {};
  auto* counter = known_memory ? reinterpret_cast<uint64_t*>(new_host_memory(m)) : elsewhere;
  const ze_event_counter_based_external_sync_allocation_desc_t storage = {
      ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_SYNC_ALLOCATION_DESC, nullptr, counter,
      counter, within_limit ? 1 : most + 1};
  const ze_event_counter_based_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC, &storage,
                                              ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE, 0, 0};
  ze_event_handle_t event = nullptr;
  maybe(zeEventCounterBasedCreate(m.context, m.device, &desc, &event));
}

void aggregate(machine& m, uint64_t increment, bool with_external) {
  uint64_t most = 0;
  MUST(zeDeviceGetCounterBasedEventMaxValue(m.device, &most));
  auto* counter = reinterpret_cast<uint64_t*>(new_memory(m));
  const ze_event_counter_based_external_sync_allocation_desc_t external = {
      ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_SYNC_ALLOCATION_DESC, nullptr, counter,
      counter, 1};
  const ze_event_counter_based_external_aggregate_storage_desc_t storage = {
      ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_AGGREGATE_STORAGE_DESC,
      with_external ? &external : nullptr, counter, increment, 4};
  const ze_event_counter_based_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC, &storage,
                                              ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE, 0, 0};
  ze_event_handle_t event = nullptr;
  maybe(zeEventCounterBasedCreate(m.context, m.device, &desc, &event));
}

// What one device has done is waited for on another, which cannot see its memory.
void pass_on(machine& m, bool through_host) {
  const auto one = new_in_order_immediate(m);
  const auto two = new_immediate(m, ZE_COMMAND_QUEUE_FLAG_IN_ORDER,
                                 ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, m.devices.at(1));
  const auto event = new_counter_event(m);
  ze_bool_t peers = 0;
  MUST(zeDeviceCanAccessPeer(m.devices.at(1), m.device, &peers));
  barrier(one, event);
  if (through_host) {
    wait(event);
    barrier(two);
  } else {
    barrier(two, nullptr, {event});
  }
  finish(one);
  finish(two);
}

// One event for two lists, and one wait for it.
void wait_for_the_last(machine& m, bool one_event) {
  const auto one = new_in_order_immediate(m), two = new_in_order_immediate(m);
  const auto event = new_counter_event(m);
  const auto other = one_event ? event : new_counter_event(m);
  char* first = new_memory(m);
  copy(one, first, new_memory(m), page, event);
  copy(two, new_memory(m), new_memory(m), page, other);
  wait(event);
  MUST(zeMemFree(m.context, first));
  finish(one);
  finish(two);
}

}  // namespace

program_list counter_programs() {
  return {
      {"48", [](machine& m) { signal_from(m, new_immediate(m), new_counter_event(m)); },
       [](machine& m) { signal_from(m, new_in_order_immediate(m), new_counter_event(m)); }},
      {"48-pool", [](machine& m) { signal_from(m, new_immediate(m), new_pool_counter_event(m)); },
       [](machine& m) { signal_from(m, new_in_order_immediate(m), new_pool_counter_event(m)); }},
      {"49-host-reset", [](machine& m) { maybe(zeEventHostReset(new_counter_event(m))); },
       [](machine& m) { MUST(zeEventHostReset(new_event(new_pool(m)))); }},
      {"49-host-signal", [](machine& m) { maybe(zeEventHostSignal(new_counter_event(m))); },
       [](machine& m) { MUST(zeEventHostSignal(new_event(new_pool(m)))); }},
      {"49-reset",
       [](machine& m) {
         maybe(zeCommandListAppendEventReset(new_in_order_list(m), new_counter_event(m)));
       },
       [](machine& m) {
         MUST(zeCommandListAppendEventReset(new_in_order_list(m), new_event(new_pool(m))));
       }},
      {"50", [](machine& m) { wait_and_signal(m, false, false); },
       [](machine& m) { wait_and_signal(m, true, false); }},
      {"51", [](machine& m) { wait_and_signal(m, false, true); },
       [](machine& m) { wait_and_signal(m, true, true); }},
      {"52",
       [](machine& m) {
         auto list = new_in_order_list(m);
         maybe(zeCommandListAppendBarrier(list, new_flagged(m, 0), 0, nullptr));
       },
       [](machine& m) {
         auto list = new_in_order_list(m);
         maybe(zeCommandListAppendBarrier(
             list, new_flagged(m, ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE), 0, nullptr));
       }},
      {"53",
       [](machine& m) {
         new_flagged(m, ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP |
                            ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP);
       },
       [](machine& m) { new_flagged(m, ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP); }},
      {"53-shared",
       [](machine& m) {
         new_flagged(m,
                     ZE_EVENT_COUNTER_BASED_FLAG_IPC | ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP);
       },
       [](machine& m) { new_flagged(m, ZE_EVENT_COUNTER_BASED_FLAG_IPC); }},
      {"54", [](machine& m) { new_flagged(m, 0x80); },
       [](machine& m) { new_flagged(m, ZE_EVENT_COUNTER_BASED_FLAG_GRAPH_EXTERNAL); }},
      {"55", [](machine& m) { pass_on(m, false); }, [](machine& m) { pass_on(m, true); }},
      {"56", [](machine& m) { execute_twice(m, false); },
       [](machine& m) { execute_twice(m, true); }},
      {"57", [](machine& m) { keep_address(m, true); }, [](machine& m) { keep_address(m, false); }},
      {"58-memory", [](machine& m) { store_outside(m, false, true); },
       [](machine& m) { store_outside(m, true, true); }},
      {"58-value", [](machine& m) { store_outside(m, true, false); }, nullptr},
      {"59-increment", [](machine& m) { aggregate(m, 0, false); },
       [](machine& m) { aggregate(m, 2, false); }},
      {"59-both", [](machine& m) { aggregate(m, 2, true); }, nullptr},
      {"60", [](machine& m) { wait_for_the_last(m, true); },
       [](machine& m) { wait_for_the_last(m, false); }},
      {"60-reuse", nullptr, reuse},
  };
}

}  // namespace rule_programs
