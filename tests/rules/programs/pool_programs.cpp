#include "rule_program.hpp"

namespace rule_programs {
namespace {

void create_pool(machine& m, uint32_t count, ze_event_pool_flags_t flags) {
  const ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr, flags, count};
  ze_event_pool_handle_t pool = nullptr;
  maybe(zeEventPoolCreate(m.context, &desc, 0, nullptr, &pool));
}

// The event is of a pool that was made for the first device only.
void use_on(machine& m, ze_device_handle_t device) {
  const ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                     ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1};
  ze_event_pool_handle_t pool = nullptr;
  MUST(zeEventPoolCreate(m.context, &desc, 1, &m.device, &pool));
  const auto event = new_event(pool);
  const auto list = new_immediate(m, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, device);
  maybe(zeCommandListAppendBarrier(list, event, 0, nullptr));
  finish(list);
}

void create_two(machine& m, uint32_t first, uint32_t second) {
  const auto pool = new_pool(m, 2);
  new_event(pool, first);
  const ze_event_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, second, 0, 0};
  ze_event_handle_t event = nullptr;
  maybe(zeEventCreate(pool, &desc, &event));
}

void create_with_scope(machine& m, ze_event_scope_flags_t scope) {
  const ze_event_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 0, scope, 0};
  ze_event_handle_t event = nullptr;
  maybe(zeEventCreate(new_pool(m), &desc, &event));
}

void destroy_pool(machine& m, bool events_first) {
  const auto pool = new_pool(m);
  const auto event = new_event(pool);
  if (events_first) MUST(zeEventDestroy(event));
  maybe(zeEventPoolDestroy(pool));
}

void destroy_event(machine& m, bool wait_first) {
  const auto list = new_immediate(m);
  const auto event = new_event(new_pool(m));
  copy(list, new_memory(m), new_memory(m), page, event);
  if (wait_first) wait(event);
  MUST(zeEventDestroy(event));
  finish(list);
}

void use_event(machine& m, bool destroyed) {
  const auto pool = new_pool(m);
  const auto event = new_event(pool);
  if (destroyed) MUST(zeEventDestroy(event));
  maybe(zeEventQueryStatus(event));
}

// The same address may come back for another event, which is as good as any.
void recreate_event(machine& m) {
  const auto pool = new_pool(m);
  MUST(zeEventDestroy(new_event(pool)));
  maybe(zeEventQueryStatus(new_event(pool)));
}

void wait_by_interrupt(machine& m, ze_event_sync_mode_flags_t mode) {
  const ze_event_sync_mode_desc_t how = {ZE_STRUCTURE_TYPE_EVENT_SYNC_MODE_DESC, nullptr, mode, 0};
  const ze_event_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_DESC, &how, 0, 0, 0};
  ze_event_handle_t event = nullptr;
  maybe(zeEventCreate(new_pool(m), &desc, &event));
}

}  // namespace

program_list pool_programs() {
  return {
      {"1-empty", [](machine& m) { create_pool(m, 0, 0); },
       [](machine& m) { create_pool(m, 1, 0); }},
      {"1-flags", [](machine& m) { create_pool(m, 1, 0x10); },
       [](machine& m) {
         create_pool(m, 1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_IPC);
       }},
      {"1-devices",
       [](machine& m) {
         const ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr, 0, 1};
         ze_event_pool_handle_t pool = nullptr;
         maybe(zeEventPoolCreate(m.context, &desc, 1, nullptr, &pool));
       },
       [](machine& m) {
         const ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr, 0, 1};
         ze_event_pool_handle_t pool = nullptr;
         maybe(zeEventPoolCreate(m.context, &desc, 1, &m.device, &pool));
       }},
      {"2",
       [](machine& m) {
         create_pool(
             m, 1,
             ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP);
       },
       [](machine& m) {
         create_pool(m, 1, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | ZE_EVENT_POOL_FLAG_IPC);
       }},
      {"3", [](machine& m) { use_on(m, m.devices.at(1)); },
       [](machine& m) { use_on(m, m.device); }},
      {"4-taken", [](machine& m) { create_two(m, 0, 0); }, [](machine& m) { create_two(m, 0, 1); }},
      {"4-beyond", [](machine& m) { create_two(m, 0, 2); },
       [](machine& m) { create_two(m, 1, 0); }},
      {"5", [](machine& m) { create_with_scope(m, 0x8); },
       [](machine& m) { create_with_scope(m, 0x7); }},
      {"6", [](machine& m) { destroy_pool(m, false); }, [](machine& m) { destroy_pool(m, true); }},
      {"7", [](machine& m) { destroy_event(m, false); },
       [](machine& m) { destroy_event(m, true); }},
      {"7-counter", nullptr,
       [](machine& m) {
         const auto list = new_in_order_immediate(m);
         const auto event = new_counter_event(m);
         copy(list, new_memory(m), new_memory(m), page, event);
         MUST(zeEventDestroy(event));
         finish(list);
       }},
      {"8", [](machine& m) { use_event(m, true); }, recreate_event},
      {"9",
       [](machine& m) { wait_by_interrupt(m, ZE_EVENT_SYNC_MODE_FLAG_EXTERNAL_INTERRUPT_WAIT); },
       [](machine& m) { wait_by_interrupt(m, ZE_EVENT_SYNC_MODE_FLAG_LOW_POWER_WAIT); }},
  };
}

}  // namespace rule_programs
