#include <csignal>
#include <cstdint>
#include <vector>

#include "rule_program.hpp"

// What one driver or device takes and another one does not.

namespace rule_programs {
namespace {

// Legal; a note on drivers on which it works.
void reset_from_host(machine& m, ze_event_pool_flags_t more) {
  const auto list = new_in_order_immediate(m);
  const auto event = new_event(new_pool(m, 1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | more));
  copy(list, new_memory(m), new_memory(m), page, event);
  wait(event);
  MUST(zeEventHostReset(event));
}

void reset_on_device(machine& m) {
  const auto list = new_in_order_immediate(m);
  const auto event = new_event(new_pool(m));
  copy(list, new_memory(m), new_memory(m), page, event);
  wait(event);
  MUST(zeCommandListAppendEventReset(list, event));
  finish(list);
}

void ask_for_access(machine& m) {
  ze_device_memory_access_properties_t access = {ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES};
  MUST(zeDeviceGetMemoryAccessProperties(m.device, &access));
}

void fill(machine& m, void* memory) {
  const auto list = new_in_order_immediate(m);
  const char zero = 0;
  MUST(zeCommandListAppendMemoryFill(list, memory, &zero, 1, page, nullptr, 0, nullptr));
  finish(list);
}

void fill_plain_memory(machine& m) {
  ask_for_access(m);
  std::vector<char> plain(page);
  fill(m, plain.data());
}

void fill_host_memory(machine& m) {
  ask_for_access(m);
  fill(m, new_host_memory(m));
}

// Copies to plain memory are for all devices.
void copy_to_plain_memory(machine& m) {
  ask_for_access(m);
  std::vector<char> plain(page);
  const auto list = new_in_order_immediate(m);
  copy(list, plain.data(), new_memory(m));
  finish(list);
}

// The driver crashes on a handle that it never gave out.
void query_what_was_never_made(machine&) {
  std::signal(SIGSEGV, SIG_DFL);
  (void)zeEventQueryStatus(reinterpret_cast<ze_event_handle_t>(uintptr_t{4096}));
}

void query_what_was_made(machine& m) {
  (void)zeEventQueryStatus(new_event(new_pool(m)));
}

}  // namespace

program_list driver_programs() {
  return {
      {"8-made", query_what_was_never_made, query_what_was_made},
      {"77", [](machine& m) { reset_from_host(m, 0); }, reset_on_device},
      {"77-shared", nullptr, [](machine& m) { reset_from_host(m, ZE_EVENT_POOL_FLAG_IPC); }},
      {"78", fill_plain_memory, fill_host_memory},
      {"78-copy", nullptr, copy_to_plain_memory},
  };
}

}  // namespace rule_programs
