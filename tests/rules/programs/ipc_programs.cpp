#include "rule_program.hpp"

namespace rule_programs {
namespace {

constexpr ze_event_pool_flags_t shared = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_IPC;

void export_pool(machine& m, ze_event_pool_flags_t flags) {
  ze_ipc_event_pool_handle_t handle = {};
  maybe(zeEventPoolGetIpcHandle(new_pool(m, 1, flags), &handle));
}

enum class ending { close, destroy, close_with_event };

// Opens its own pool, as another process would.
void open_pool(machine& m, ending how) {
  ze_ipc_event_pool_handle_t handle = {};
  ze_event_pool_handle_t opened = nullptr;
  MUST(zeEventPoolGetIpcHandle(new_pool(m, 1, shared), &handle));
  MUST(zeEventPoolOpenIpcHandle(m.context, handle, &opened));
  const auto event = new_event(opened);
  if (how != ending::close_with_event) MUST(zeEventDestroy(event));
  if (how == ending::destroy)
    maybe(zeEventPoolDestroy(opened));
  else
    maybe(zeEventPoolCloseIpcHandle(opened));
}

void return_handle(machine& m, int times) {
  ze_ipc_event_pool_handle_t handle = {};
  MUST(zeEventPoolGetIpcHandle(new_pool(m, 1, shared), &handle));
  for (int i = 0; i < times; ++i) maybe(zeEventPoolPutIpcHandle(m.context, handle));
}

ze_device_handle_t part_of(ze_device_handle_t whole) {
  uint32_t count = 1;
  ze_device_handle_t part = nullptr;
  MUST(zeDeviceGetSubDevices(whole, &count, &part));
  return part;
}

// A pool made for a sub-device is shared, and an event of it signalled on `where`.
void share_part(machine& m, ze_device_handle_t where) {
  ze_device_handle_t part = part_of(m.device);
  const ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr, shared, 1};
  ze_event_pool_handle_t pool = nullptr, opened = nullptr;
  MUST(zeEventPoolCreate(m.context, &desc, 1, &part, &pool));
  ze_ipc_event_pool_handle_t handle = {};
  MUST(zeEventPoolGetIpcHandle(pool, &handle));
  MUST(zeEventPoolOpenIpcHandle(m.context, handle, &opened));
  const auto event = new_event(opened);
  const auto list = new_immediate(m, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, where);
  maybe(zeCommandListAppendBarrier(list, event, 0, nullptr));
  finish(list);
  MUST(zeEventDestroy(event));
  MUST(zeEventPoolCloseIpcHandle(opened));
}

ze_event_handle_t open_event(machine& m, ze_event_handle_t event) {
  const auto list = new_in_order_immediate(m);
  barrier(list, event);
  wait(event);
  ze_ipc_event_counter_based_handle_t handle = {};
  MUST(zeEventCounterBasedGetIpcHandle(event, &handle));
  ze_event_handle_t opened = nullptr;
  MUST(zeEventCounterBasedOpenIpcHandle(m.context, handle, &opened));
  return opened;
}

void end_event(machine& m, bool close) {
  const auto opened = open_event(m, new_counter_event(m, ZE_EVENT_COUNTER_BASED_FLAG_IPC));
  wait(opened);
  maybe(close ? zeEventCounterBasedCloseIpcHandle(opened) : zeEventDestroy(opened));
}

void use_event(machine& m, bool signal) {
  const auto opened = open_event(m, new_counter_event(m, ZE_EVENT_COUNTER_BASED_FLAG_IPC));
  const auto list = new_in_order_immediate(m);
  maybe(zeCommandListAppendBarrier(list, signal ? opened : nullptr, signal ? 0 : 1,
                                   signal ? nullptr : const_cast<ze_event_handle_t*>(&opened)));
  finish(list);
}

void export_event(machine& m, ze_event_counter_based_flags_t flags) {
  const auto event = new_counter_event(m, flags);
  const auto list = new_in_order_immediate(m);
  barrier(list, event);
  wait(event);
  ze_ipc_event_counter_based_handle_t handle = {};
  maybe(zeEventCounterBasedGetIpcHandle(event, &handle));
}

}  // namespace

program_list ipc_programs() {
  return {
      {"61-flag", [](machine& m) { export_pool(m, ZE_EVENT_POOL_FLAG_HOST_VISIBLE); },
       [](machine& m) { export_pool(m, shared); }},
      {"61-destroy", [](machine& m) { open_pool(m, ending::destroy); },
       [](machine& m) { open_pool(m, ending::close); }},
      {"62", [](machine& m) { return_handle(m, 2); }, [](machine& m) { return_handle(m, 1); }},
      {"62-never", nullptr, [](machine& m) { return_handle(m, 0); }},
      {"63", [](machine& m) { share_part(m, m.device); },
       [](machine& m) { share_part(m, part_of(m.device)); }},
      {"64", [](machine& m) { open_pool(m, ending::close_with_event); },
       [](machine& m) { open_pool(m, ending::close); }},
      {"65-destroy", [](machine& m) { end_event(m, false); },
       [](machine& m) { end_event(m, true); }},
      {"65-signal", [](machine& m) { use_event(m, true); },
       [](machine& m) { use_event(m, false); }},
      {"65-flag", [](machine& m) { export_event(m, 0); },
       [](machine& m) { export_event(m, ZE_EVENT_COUNTER_BASED_FLAG_IPC); }},
  };
}

}  // namespace rule_programs
