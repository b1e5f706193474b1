#include <cstdlib>
#include <cstring>

#include "rule_program.hpp"

// Calls that fail, and what a program does then. That the results of some are not looked at is the
// fault.

namespace rule_programs {
namespace {

// Creating an event fails here: ZEVENT_FAULTS=event-create-fails.
ze_event_handle_t event_that_is_not_made(machine& m) {
  const ze_event_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 0, ZE_EVENT_SCOPE_FLAG_HOST,
                                0};
  ze_event_handle_t event = nullptr;
  (void)zeEventCreate(new_pool(m), &desc, &event);
  return event;
}

void wait_for_event_that_was_not_made(machine& m) {
  const auto list = new_in_order_immediate(m);
  const auto event = event_that_is_not_made(m);
  copy(list, new_memory(m), new_memory(m), page, event);
  (void)zeEventHostSynchronize(event, for_ever);
  finish(list);
}

void do_without_event(machine& m) {
  const auto list = new_in_order_immediate(m);
  const auto event = event_that_is_not_made(m);
  copy(list, new_memory(m), new_memory(m), page, event);
  if (event != nullptr) wait(event);
  finish(list);
}

void* memory_that_is_too_large(machine& m) {
  const ze_device_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0, 0};
  void* memory = nullptr;
  (void)zeMemAllocDevice(m.context, &desc, size_t{1} << 60, 64, m.device, &memory);
  return memory;
}

void copy_to_memory_that_was_not_made(machine& m) {
  const auto list = new_in_order_immediate(m);
  void* to = memory_that_is_too_large(m);
  maybe(zeCommandListAppendMemoryCopy(list, to, new_memory(m), page, nullptr, 0, nullptr));
  finish(list);
}

void take_less_memory(machine& m) {
  const auto list = new_in_order_immediate(m);
  void* to = memory_that_is_too_large(m);
  if (to == nullptr) to = new_memory(m);
  copy(list, static_cast<char*>(to), new_memory(m));
  finish(list);
}

// A list of a copy engine, which takes short patterns only.
ze_command_list_handle_t copy_engine(machine& m) {
  const ze_command_queue_desc_t desc = {
      ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, nullptr, 1, 0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
      ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
  ze_command_list_handle_t list = nullptr;
  MUST(zeCommandListCreateImmediate(m.context, m.device, &desc, &list));
  return list;
}

ze_result_t long_fill(ze_command_list_handle_t list, char* to, ze_event_handle_t signal) {
  const char pattern[2048] = {};
  return zeCommandListAppendMemoryFill(list, to, pattern, sizeof(pattern), page, signal, 0,
                                       nullptr);
}

void wait_for_failed_append(machine& m) {
  const auto list = copy_engine(m);
  const auto event = new_event(new_pool(m));
  (void)long_fill(list, new_memory(m), event);
  (void)zeEventHostSynchronize(event, 1000);
}

void append_again(machine& m) {
  const auto list = copy_engine(m);
  const auto event = new_event(new_pool(m));
  char* to = new_memory(m);
  const char zero = 0;
  if (long_fill(list, to, event) != ZE_RESULT_SUCCESS)
    MUST(zeCommandListAppendMemoryFill(list, to, &zero, 1, page, event, 0, nullptr));
  wait(event);
}

// Intel's driver says whether a size is right; this one is not a power of two (EV-46).
void refused_and_repeated(machine& m) {
  const auto list = new_immediate(m);
  char* to = new_memory(m);
  const char pattern[4] = {};
  maybe(zeCommandListAppendMemoryFill(list, to, pattern, 3, 3 * 1024, nullptr, 0, nullptr));
  MUST(zeCommandListAppendMemoryFill(list, to, pattern, 4, page, nullptr, 0, nullptr));
  finish(list);
}

// No other rule speaks of it.
void refused_argument(machine& m) {
  const auto list = new_immediate(m);
  maybe(zeCommandListAppendMemoryCopy(list, new_memory(m), nullptr, page, nullptr, 0, nullptr));
}

// A feature that the device does not have, or memory that is too large, is no fault of the call.
void unsupported(machine& m) {
  (void)memory_that_is_too_large(m);
}

}  // namespace

program_list result_programs() {
  return {
      {"74", wait_for_event_that_was_not_made, do_without_event},
      {"74-memory", copy_to_memory_that_was_not_made, take_less_memory},
      {"74-append", wait_for_failed_append, append_again},
      {"79", refused_argument, unsupported},
      {"46-refused", refused_and_repeated, nullptr},
  };
}

}  // namespace rule_programs
