#include <algorithm>
#include <cstring>
#include <thread>

#include "rule_program.hpp"

namespace rule_programs {
namespace {

void free_memory(machine& m, bool wait_first) {
  const auto list = new_immediate(m);
  char* memory = new_memory(m);
  copy(list, memory, new_memory(m));
  if (wait_first) finish(list);
  MUST(zeMemFree(m.context, memory));
  finish(list);
}

void free_blocking(machine& m) {
  const auto list = new_immediate(m);
  char* memory = new_memory(m);
  copy(list, memory, new_memory(m));
  const ze_memory_free_ext_desc_t desc = {ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC, nullptr,
                                          ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE};
  MUST(zeMemFreeExt(m.context, &desc, memory));
  finish(list);
}

void evict_memory(machine& m, bool wait_first) {
  const auto list = new_immediate(m);
  char* memory = new_memory(m);
  MUST(zeContextMakeMemoryResident(m.context, m.device, memory, page));
  copy(list, memory, new_memory(m));
  if (wait_first) finish(list);
  MUST(zeContextEvictMemory(m.context, m.device, memory, page));
  finish(list);
}

void destroy_context(machine& m, bool wait_first) {
  machine second = m;
  const ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  MUST(zeContextCreate(m.driver, &desc, &second.context));
  const auto list = new_immediate(second);
  copy(list, new_memory(second), new_memory(second));
  if (wait_first) finish(list);
  maybe(zeContextDestroy(second.context));
}

void copy_region(machine& m, const ze_copy_region_t& to, const ze_copy_region_t& from,
                 uint32_t slice_pitch) {
  const auto list = new_immediate(m);
  char* memory = new_memory(m, 64 * page);
  maybe(zeCommandListAppendMemoryCopyRegion(list, memory, &to, 512, slice_pitch, memory, &from, 512,
                                            slice_pitch, nullptr, 0, nullptr));
  finish(list);
}

void copy_within(machine& m, size_t distance) {
  const auto list = new_immediate(m);
  char* memory = new_memory(m, 4 * page);
  copy(list, memory + distance, memory, page);
  finish(list);
}

void fill(machine& m, size_t offset, size_t pattern_bytes, size_t bytes) {
  const auto list = new_immediate(m);
  char pattern[512] = {};
  maybe(zeCommandListAppendMemoryFill(list, new_memory(m) + offset, pattern, pattern_bytes, bytes,
                                      nullptr, 0, nullptr));
  finish(list);
}

// A fill on the queue group that can do copies only, which takes small patterns.
void fill_by_copy_engine(machine& m, bool too_large) {
  uint32_t count = 0;
  MUST(zeDeviceGetCommandQueueGroupProperties(m.device, &count, nullptr));
  std::vector<ze_command_queue_group_properties_t> groups(
      count, {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES});
  MUST(zeDeviceGetCommandQueueGroupProperties(m.device, &count, groups.data()));
  const ze_command_list_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, 1, 0};
  ze_command_list_handle_t list = nullptr;
  MUST(zeCommandListCreate(m.context, m.device, &desc, &list));
  const char pattern[512] = {};
  const size_t most = groups.at(1).maxMemoryFillPatternSize;
  maybe(zeCommandListAppendMemoryFill(list, new_memory(m), pattern, too_large ? 2 * most : most,
                                      page, nullptr, 0, nullptr));
}

// The host writes into the source of a copy that has been submitted.
void write_source(machine& m, bool wait_first) {
  const auto list = new_immediate(m);
  char* source = new_host_memory(m);
  std::memset(source, 1, page);
  copy(list, new_memory(m), source);
  if (wait_first) finish(list);
  std::memset(source + 100, 2, 10);
  finish(list);
}

// The copy takes the first half of the page, the host writes into the second.
void write_beside_source(machine& m) {
  const auto list = new_immediate(m);
  char* source = new_host_memory(m);
  std::memset(source, 1, page);
  copy(list, new_memory(m), source, page / 2);
  std::memset(source + page / 2, 2, page / 2);
  finish(list);
}

// The copy cannot start before the host has written and says so.
void write_behind_gate(machine& m) {
  const auto list = new_immediate(m);
  const auto gate = new_event(new_pool(m));
  char* source = new_host_memory(m);
  copy(list, new_memory(m), source, page, nullptr, {gate});
  std::memset(source, 2, page);
  MUST(zeEventHostSignal(gate));
  finish(list);
}

// What changes in the destination is the work of the copy.
void copy_to_host(machine& m) {
  const auto list = new_in_order_immediate(m);
  char* host = new_host_memory(m);
  char* device = new_memory(m);
  std::memset(host, 1, page);
  copy(list, device, host);
  copy(list, host, new_memory(m));
  finish(list);
}

// The same with memory that the program got from the system.
void write_plain_source(machine& m, bool wait_first) {
  const auto list = new_immediate(m);
  std::vector<char> source(page, 1);
  copy(list, new_memory(m), source.data());
  if (wait_first) finish(list);
  source[7] = 2;
  copy(list, new_memory(m), source.data());
  finish(list);
}

// The same, and nothing reads the source again.
void write_plain_source_once(machine& m, bool wait_first) {
  const auto list = new_immediate(m);
  std::vector<char> source(page, 1);
  copy(list, new_memory(m), source.data());
  if (wait_first) finish(list);
  source[7] = 2;
  finish(list);
}

// The same with a list that is executed.
void write_source_of_list(machine& m, bool wait_first) {
  const auto queue = new_queue(m);
  const auto list = new_list(m);
  std::vector<char> source(page, 1);
  copy(list, new_memory(m), source.data());
  close(list);
  source[6] = 2;  // the copy is not under way yet
  execute(queue, list);
  if (wait_first) finish(queue);
  source[7] = 2;
  finish(queue);
}

// The host writes to where a copy writes. It sees that the copy has been there, but has not waited:
// on a device, what it sees may not be all.
void write_target(machine& m, char* target, bool wait_first) {
  const auto list = new_immediate(m);
  std::vector<char> source(page, 1);
  copy(list, target, source.data());
  if (wait_first) finish(list);
  const volatile char* copied = target;
  while (std::count(copied, copied + page, 1) != page) std::this_thread::yield();
  target[page / 2] = 2;
  finish(list);
}

void write_plain_target(machine& m, bool wait_first) {
  std::vector<char> target(page);
  write_target(m, target.data(), wait_first);
}

// What a host function does in its turn is not too early.
void write_by_host_function(machine& m) {
  const auto list = new_in_order_immediate(m);
  std::vector<char> source(page, 1);
  std::vector<char> target(page);
  copy(list, target.data(), source.data());
  const auto write = [](void* bytes) { static_cast<char*>(bytes)[page / 2] = 2; };
  MUST(zeCommandListAppendHostFunction(list, write, target.data(), nullptr, nullptr, 0, nullptr));
  MUST(zeCommandListAppendHostFunction(list, write, source.data(), nullptr, nullptr, 0, nullptr));
  finish(list);
}

}  // namespace

program_list memory_programs() {
  return {
      {"44", [](machine& m) { free_memory(m, false); }, [](machine& m) { free_memory(m, true); }},
      {"44-blocking", nullptr, free_blocking},
      {"44-evict", [](machine& m) { evict_memory(m, false); },
       [](machine& m) { evict_memory(m, true); }},
      {"44-context", [](machine& m) { destroy_context(m, false); },
       [](machine& m) { destroy_context(m, true); }},
      {"45-extents",
       [](machine& m) {
         copy_region(m, {0, 0, 0, 64, 4, 0}, {256, 0, 0, 64, 5, 0}, 0);
       },
       [](machine& m) {
         copy_region(m, {0, 0, 0, 64, 4, 0}, {256, 0, 0, 64, 4, 0}, 0);
       }},
      {"45-overlap",
       [](machine& m) {
         copy_region(m, {0, 0, 0, 64, 4, 0}, {63, 0, 0, 64, 4, 0}, 0);
       },
       [](machine& m) {
         copy_region(m, {0, 0, 0, 64, 4, 0}, {64, 0, 0, 64, 4, 0}, 0);
       }},
      {"45-slices",
       [](machine& m) {
         copy_region(m, {0, 0, 0, 64, 4, 2}, {256, 0, 0, 64, 4, 2}, 0);
       },
       [](machine& m) {
         copy_region(m, {0, 0, 0, 64, 4, 2}, {256, 0, 0, 64, 4, 2}, 4096);
       }},
      {"45-plain", [](machine& m) { copy_within(m, page / 2); },
       [](machine& m) { copy_within(m, page); }},
      {"46-power", [](machine& m) { fill(m, 0, 3, 30); }, [](machine& m) { fill(m, 0, 4, 32); }},
      {"46-aligned", [](machine& m) { fill(m, 2, 4, 32); }, [](machine& m) { fill(m, 4, 4, 32); }},
      {"46-size", [](machine& m) { fill(m, 0, 4, 30); }, [](machine& m) { fill(m, 0, 4, 28); }},
      {"46-limit", [](machine& m) { fill_by_copy_engine(m, true); },
       [](machine& m) { fill_by_copy_engine(m, false); }},
      {"47", [](machine& m) { write_source(m, false); }, [](machine& m) { write_source(m, true); }},
      {"47-plain", [](machine& m) { write_plain_source(m, false); },
       [](machine& m) { write_plain_source(m, true); }},
      {"47-plain-once", [](machine& m) { write_plain_source_once(m, false); },
       [](machine& m) { write_plain_source_once(m, true); }},
      {"47-list", [](machine& m) { write_source_of_list(m, false); },
       [](machine& m) { write_source_of_list(m, true); }},
      {"47-target", [](machine& m) { write_target(m, new_host_memory(m), false); },
       [](machine& m) { write_target(m, new_host_memory(m), true); }},
      {"47-target-plain", [](machine& m) { write_plain_target(m, false); },
       [](machine& m) { write_plain_target(m, true); }},
      {"47-function", nullptr, write_by_host_function},
      {"47-beside", nullptr, write_beside_source},
      {"47-gate", nullptr, write_behind_gate},
      {"47-destination", nullptr, copy_to_host},
  };
}

}  // namespace rule_programs
