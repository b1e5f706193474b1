#include "rule_program.hpp"

namespace rule_programs {
namespace {

constexpr size_t chunks = 4;

enum class signal_on { all_but_first, last, barrier_after };

// A copy in chunks, as a strided copy is made, and one event for all of it.
void copy_in_chunks(machine& m, ze_command_list_handle_t list, signal_on where, char* to) {
  const auto event = new_event(new_pool(m));
  const char* from = new_memory(m, chunks * page);
  for (size_t i = 0; i < chunks; ++i) {
    const bool signals = where == signal_on::all_but_first ? i > 0
                         : where == signal_on::last        ? i + 1 == chunks
                                                           : false;
    copy(list, to + i * page, from + i * page, page, signals ? event : nullptr);
  }
  if (where == signal_on::barrier_after) barrier(list, event);
  wait(event);
  const ze_device_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0, 0};
  void* next = nullptr;
  MUST(zeMemAllocDevice(m.context, &desc, page, 64, m.device, &next));
  finish(list);
}

void copy_in_chunks(machine& m, ze_command_list_handle_t list, signal_on where) {
  copy_in_chunks(m, list, where, new_host_memory(m, chunks * page));
}

// Into memory that the driver has not allocated.
void copy_to_array(machine& m, ze_command_list_handle_t list, signal_on where) {
  static char array[chunks * page];
  copy_in_chunks(m, list, where, array);
}

// The same on a list that is executed by a queue.
void execute_chunks(machine& m, signal_on where) {
  static char array[chunks * page];
  const auto queue = new_queue(m);
  const auto list = new_list(m);
  const auto event = new_event(new_pool(m));
  const char* from = new_memory(m, chunks * page);
  for (size_t i = 0; i < chunks; ++i) {
    const bool signals = where == signal_on::last && i + 1 == chunks;
    copy(list, array + i * page, from + i * page, page, signals ? event : nullptr);
  }
  if (where == signal_on::barrier_after) barrier(list, event);
  close(list);
  execute(queue, list);
  wait(event);
  new_memory(m);
  finish(queue);
}

// Another list reads what the chunks have written.
void read_chunks(machine& m, bool in_order) {
  const auto list = in_order ? new_in_order_immediate(m) : new_immediate(m);
  const auto other = new_immediate(m);
  const auto event = new_event(new_pool(m));
  char* middle = new_memory(m, 2 * page);
  copy(list, middle, new_memory(m));
  copy(list, middle + page, new_memory(m), page, event);
  copy(other, new_memory(m, 2 * page), middle, 2 * page, nullptr, {event});
  finish(list);
  finish(other);
}

void copy_across_lists(machine& m, ze_event_scope_flags_t scope) {
  const auto one = new_immediate(m), other = new_immediate(m);
  const auto event = new_event(new_pool(m), 0, scope);
  char* middle = new_memory(m);
  copy(one, middle, new_memory(m), page, event);
  copy(other, new_memory(m), middle, page, nullptr, {event});
  finish(one);
  finish(other);
}

void read_on_host(machine& m, ze_event_scope_flags_t scope) {
  const auto list = new_immediate(m);
  const auto event = new_event(new_pool(m), 0, scope);
  copy(list, new_host_memory(m), new_memory(m), page, event);
  wait(event);
}

// An event of a barrier stands for the copy before it; the host sees the copy's data when it has
// waited for one with scope HOST too.
void read_on_host_after_barrier(machine& m, bool wait_for_host_scope) {
  const auto list = new_in_order_immediate(m);
  const auto pool = new_pool(m);
  const auto narrow = new_event(pool, 0, 0);
  const auto wide = new_event(pool, 1);
  copy(list, new_host_memory(m), new_memory(m));
  barrier(list, narrow);
  barrier(list, wide);
  wait(narrow);
  if (wait_for_host_scope) wait(wide);
}

void copy_across_devices(machine& m, ze_event_scope_flags_t wait_scope) {
  const auto one = new_immediate(m);
  const auto other = new_immediate(m, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, m.devices.at(1));
  const auto event = new_event(new_pool(m), 0, ZE_EVENT_SCOPE_FLAG_DEVICE, wait_scope);
  char* middle = new_memory(m);
  copy(one, middle, new_memory(m), page, event);
  copy(other, new_memory(m), middle, page, nullptr, {event});
  finish(one);
  finish(other);
}

// The host reads after a fence: no scope is needed.
void read_after_fence(machine& m) {
  const auto queue = new_queue(m);
  const auto fence = new_fence(queue);
  const auto list = new_list(m);
  copy(list, new_host_memory(m), new_memory(m), page, new_event(new_pool(m), 0, 0));
  close(list);
  execute(queue, list, fence);
  MUST(zeFenceHostSynchronize(fence, for_ever));
}

void copy_twice(machine& m, bool with_barrier) {
  const auto list = new_immediate(m);
  char* middle = new_memory(m);
  copy(list, middle, new_memory(m));
  if (with_barrier) barrier(list);
  copy(list, new_memory(m), middle);
  finish(list);
}

// Two tiles of one matrix, side by side or one over the other.
void copy_tiles(machine& m, uint32_t second_column) {
  const auto list = new_immediate(m);
  char* matrix = new_memory(m, 16 * page);
  const char* source = new_memory(m, 16 * page);
  for (const uint32_t column : {0u, second_column}) {
    const ze_copy_region_t to = {column, 0, 0, 512, 16, 0};
    const ze_copy_region_t from = {0, 0, 0, 512, 16, 0};
    MUST(zeCommandListAppendMemoryCopyRegion(list, matrix, &to, page, 0, source, &from, 512, 0,
                                             nullptr, 0, nullptr));
  }
  finish(list);
}

void copy_on_two_lists(machine& m, bool with_event) {
  const auto one = new_immediate(m), other = new_immediate(m);
  const auto event = new_event(new_pool(m));
  char* middle = new_memory(m);
  copy(one, middle, new_memory(m), page, event);
  if (with_event)
    copy(other, new_memory(m), middle, page, nullptr, {event});
  else
    copy(other, new_memory(m), middle);
  finish(one);
  finish(other);
}

void two_lists_on_a_queue(machine& m, bool with_barrier) {
  const auto queue = new_queue(m);
  const auto one = new_list(m), other = new_list(m);
  char* middle = new_memory(m);
  copy(one, middle, new_memory(m));
  if (with_barrier) barrier(other);
  copy(other, new_memory(m), middle);
  close(one);
  close(other);
  execute(queue, one);
  execute(queue, other);
  finish(queue);
}

void barrier_between(machine& m, bool with_waits) {
  const auto list = new_immediate(m);
  const auto event = new_event(new_pool(m));
  char* middle = new_memory(m, 2 * page);
  copy(list, middle, new_memory(m));
  copy(list, middle + page, new_memory(m), page, event);
  if (with_waits)
    barrier(list, nullptr, {event});
  else
    barrier(list);
  copy(list, new_memory(m, 2 * page), middle, 2 * page);
  finish(list);
}

void ranges_barrier_between(machine& m, bool with_waits) {
  const auto list = new_immediate(m);
  auto event = new_event(new_pool(m));
  char* middle = new_memory(m, 2 * page);
  copy(list, middle, new_memory(m));
  copy(list, middle + page, new_memory(m), page, event);
  const size_t size = 2 * page;
  const void* range = middle;
  MUST(zeCommandListAppendMemoryRangesBarrier(list, 1, &size, &range, nullptr, with_waits ? 1 : 0,
                                              with_waits ? &event : nullptr));
  copy(list, new_memory(m, 2 * page), middle, 2 * page);
  finish(list);
}

}  // namespace

program_list order_programs() {
  return {
      {"0-all-but-first",
       [](machine& m) { copy_in_chunks(m, new_immediate(m), signal_on::all_but_first); },
       [](machine& m) { copy_in_chunks(m, new_immediate(m), signal_on::barrier_after); }},
      {"0-all-but-first-in-order",
       [](machine& m) { copy_in_chunks(m, new_in_order_immediate(m), signal_on::all_but_first); },
       [](machine& m) { copy_in_chunks(m, new_in_order_immediate(m), signal_on::barrier_after); }},
      {"0-last", [](machine& m) { copy_in_chunks(m, new_immediate(m), signal_on::last); },
       [](machine& m) { copy_in_chunks(m, new_in_order_immediate(m), signal_on::last); }},
      {"0-last-array", [](machine& m) { copy_to_array(m, new_immediate(m), signal_on::last); },
       [](machine& m) { copy_to_array(m, new_immediate(m), signal_on::barrier_after); }},
      {"0-last-queue", [](machine& m) { execute_chunks(m, signal_on::last); },
       [](machine& m) { execute_chunks(m, signal_on::barrier_after); }},
      {"0-device", [](machine& m) { read_chunks(m, false); },
       [](machine& m) { read_chunks(m, true); }},
      {"22", [](machine& m) { copy_across_lists(m, 0); },
       [](machine& m) { copy_across_lists(m, ZE_EVENT_SCOPE_FLAG_DEVICE); }},
      {"22-barrier", [](machine& m) { read_on_host_after_barrier(m, false); },
       [](machine& m) { read_on_host_after_barrier(m, true); }},
      {"22-host", [](machine& m) { read_on_host(m, 0); },
       [](machine& m) { read_on_host(m, ZE_EVENT_SCOPE_FLAG_HOST); }},
      {"23", [](machine& m) { copy_across_devices(m, 0); },
       [](machine& m) { copy_across_devices(m, ZE_EVENT_SCOPE_FLAG_DEVICE); }},
      {"24", nullptr, read_after_fence},
      {"25", [](machine& m) { copy_twice(m, false); }, [](machine& m) { copy_twice(m, true); }},
      {"25-tiles", [](machine& m) { copy_tiles(m, 511); }, [](machine& m) { copy_tiles(m, 512); }},
      {"25-lists", [](machine& m) { copy_on_two_lists(m, false); },
       [](machine& m) { copy_on_two_lists(m, true); }},
      {"25-queue", [](machine& m) { two_lists_on_a_queue(m, false); },
       [](machine& m) { two_lists_on_a_queue(m, true); }},
      {"26", [](machine& m) { barrier_between(m, true); },
       [](machine& m) { barrier_between(m, false); }},
      {"27", [](machine& m) { ranges_barrier_between(m, true); },
       [](machine& m) { ranges_barrier_between(m, false); }},
  };
}

}  // namespace rule_programs
