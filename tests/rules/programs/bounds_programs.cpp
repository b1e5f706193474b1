#include <cstring>

#include "rule_program.hpp"

namespace rule_programs {
namespace {

void copy_bytes(machine& m, size_t to_offset, size_t from_offset, size_t bytes) {
  const auto list = new_immediate(m);
  char* to = new_memory(m);
  new_memory(m);  // so that the two do not overlap beyond their ends
  char* from = new_memory(m, 2 * page);
  copy(list, to + to_offset, from + from_offset, bytes);
  finish(list);
}

void fill_bytes(machine& m, size_t offset, size_t bytes) {
  const auto list = new_immediate(m);
  const char pattern = 7;
  MUST(zeCommandListAppendMemoryFill(list, new_memory(m) + offset, &pattern, 1, bytes, nullptr, 0,
                                     nullptr));
  finish(list);
}

// Eight rows of 64 bytes at a distance of 512: the last one ends in the page, or beyond it.
void copy_rows(machine& m, uint32_t x) {
  const auto list = new_immediate(m);
  const ze_copy_region_t to = {x, 0, 0, 64, 8, 0};
  const ze_copy_region_t from = {0, 0, 0, 64, 8, 0};
  char* source = new_memory(m, 2 * page);
  MUST(zeCommandListAppendMemoryCopyRegion(list, new_memory(m), &to, 512, 0, source, &from, 512, 0,
                                           nullptr, 0, nullptr));
  finish(list);
}

// A copy to memory that was freed, or whose addresses an allocation was given since.
void copy_to_freed(machine& m, bool allocate_again) {
  const auto list = new_immediate(m);
  char* source = new_memory(m);
  char* memory = new_memory(m);
  MUST(zeMemFree(m.context, memory));
  if (allocate_again) memory = new_memory(m);
  copy(list, memory, source);
  finish(list);
}

// A list is executed once more, after the free of memory that it writes to.
void execute_after_free(machine& m, bool free_first) {
  const auto queue = new_queue(m);
  const auto list = new_list(m);
  char* memory = new_memory(m);
  copy(list, memory, new_memory(m));
  close(list);
  execute(queue, list);
  finish(queue);
  if (free_first) MUST(zeMemFree(m.context, memory));
  execute(queue, list);
  finish(queue);
  if (!free_first) MUST(zeMemFree(m.context, memory));
}

void free_twice(machine& m, bool allocate_between) {
  char* memory = new_memory(m);
  MUST(zeMemFree(m.context, memory));
  if (allocate_between) memory = new_memory(m);
  maybe(zeMemFree(m.context, memory));
}

// Copies of plain memory of the host, which has no end that is known, and of no bytes at all.
void copy_unknown(machine& m) {
  const auto list = new_immediate(m);
  std::vector<char> plain(3 * page);
  copy(list, plain.data(), new_memory(m, 2 * page), 2 * page);
  copy(list, new_memory(m), plain.data() + 2 * page, 0);
  finish(list);
}

// The source is on the stack and is gone when the function returns.
[[gnu::noinline]] void copy_from_stack(ze_command_list_handle_t list, char* to, bool waits) {
  char source[4 * page];
  std::memset(source, 1, sizeof(source));
  copy(list, to, source, sizeof(source));
  if (waits) finish(list);
}

// Has descriptors where the source was: there are enough of them for the whole of it.
[[gnu::noinline]] void create_events(ze_event_pool_handle_t pool, uint32_t count) {
  ze_event_desc_t descriptors[1024];
  for (uint32_t i = 0; i < count; ++i) {
    descriptors[i] = {ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, i, 0, 0};
    ze_event_handle_t made = nullptr;
    MUST(zeEventCreate(pool, &descriptors[i], &made));
  }
}

void return_from_copy(machine& m, bool waits) {
  const auto list = new_in_order_immediate(m);
  const auto pool = new_pool(m, 1024);
  copy_from_stack(list, new_memory(m, 4 * page), waits);
  create_events(pool, 1024);
  finish(list);
}

}  // namespace

program_list bounds_programs() {
  return {
      {"73-destination", [](machine& m) { copy_bytes(m, 1, 0, page); },
       [](machine& m) { copy_bytes(m, 1, 0, page - 1); }},
      {"73-source", [](machine& m) { copy_bytes(m, 0, page + 1, page); },
       [](machine& m) { copy_bytes(m, 0, page, page); }},
      {"73-fill", [](machine& m) { fill_bytes(m, page / 2, page); },
       [](machine& m) { fill_bytes(m, page / 2, page / 2); }},
      {"73-region", [](machine& m) { copy_rows(m, 512 - 63); },
       [](machine& m) { copy_rows(m, 512 - 64); }},
      {"73-freed", [](machine& m) { copy_to_freed(m, false); },
       [](machine& m) { copy_to_freed(m, true); }},
      {"73-executed", [](machine& m) { execute_after_free(m, true); },
       [](machine& m) { execute_after_free(m, false); }},
      {"73-twice", [](machine& m) { free_twice(m, false); },
       [](machine& m) { free_twice(m, true); }},
      {"73-unknown", nullptr, copy_unknown},
      {"73-stack", [](machine& m) { return_from_copy(m, false); },
       [](machine& m) { return_from_copy(m, true); }},
  };
}

}  // namespace rule_programs
