#include "rule_program.hpp"

namespace rule_programs {
namespace {

void append_and_execute(machine& m, bool closed, bool append_later) {
  const auto queue = new_queue(m);
  auto list = new_list(m);
  barrier(list);
  if (closed) close(list);
  if (append_later) maybe(zeCommandListAppendBarrier(list, nullptr, 0, nullptr));
  maybe(zeCommandQueueExecuteCommandLists(queue, 1, &list, nullptr));
  finish(queue);
}

void create_list(machine& m, ze_command_list_flags_t flags) {
  const ze_command_list_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, 0, flags};
  ze_command_list_handle_t list = nullptr;
  maybe(zeCommandListCreate(m.context, m.device, &desc, &list));
}

void execute_lists(machine& m, uint32_t count) {
  const auto queue = new_queue(m);
  auto list = new_list(m);
  close(list);
  maybe(zeCommandQueueExecuteCommandLists(queue, count, &list, nullptr));
  finish(queue);
}

void execute_immediate(machine& m, bool immediate) {
  const auto queue = new_queue(m);
  auto list = immediate ? new_immediate(m) : new_list(m);
  if (!immediate) close(list);
  maybe(zeCommandQueueExecuteCommandLists(queue, 1, &list, nullptr));
  finish(queue);
}

void execute_on_group(machine& m, uint32_t ordinal) {
  const ze_command_queue_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                        nullptr,
                                        ordinal,
                                        0,
                                        0,
                                        ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
                                        ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
  ze_command_queue_handle_t queue = nullptr;
  MUST(zeCommandQueueCreate(m.context, m.device, &desc, &queue));
  auto list = new_list(m);
  close(list);
  maybe(zeCommandQueueExecuteCommandLists(queue, 1, &list, nullptr));
  finish(queue);
}

void execute_with_fence(machine& m, bool of_other_queue) {
  const auto queue = new_queue(m), other = new_queue(m);
  const auto fence = new_fence(of_other_queue ? other : queue);
  auto list = new_list(m);
  close(list);
  maybe(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
  finish(queue);
}

enum class then { reset, destroy, execute };

void use_again(machine& m, bool wait_first, then what) {
  const auto queue = new_queue(m);
  const auto list = new_list(m);
  copy(list, new_memory(m), new_memory(m));
  close(list);
  execute(queue, list);
  if (wait_first) finish(queue);
  if (what == then::reset) MUST(zeCommandListReset(list));
  if (what == then::destroy) MUST(zeCommandListDestroy(list));
  if (what == then::execute) execute(queue, list);
  finish(queue);
}

void destroy_immediate(machine& m, bool wait_first) {
  const auto list = new_immediate(m);
  copy(list, new_memory(m), new_memory(m));
  if (wait_first) finish(list);
  MUST(zeCommandListDestroy(list));
}

// Only the end of the list is known, which is enough for an in-order list.
void reset_after_event(machine& m) {
  const auto queue = new_queue(m);
  const auto list = new_in_order_list(m);
  const auto event = new_event(new_pool(m));
  copy(list, new_memory(m), new_memory(m));
  copy(list, new_memory(m), new_memory(m), page, event);
  close(list);
  execute(queue, list);
  wait(event);
  MUST(zeCommandListReset(list));
}

void append_list(machine& m, bool outer_immediate, bool inner_immediate) {
  const auto outer = outer_immediate ? new_immediate(m) : new_list(m);
  auto inner = inner_immediate ? new_immediate(m) : new_list(m);
  if (!inner_immediate) close(inner);
  maybe(zeCommandListImmediateAppendCommandListsExp(outer, 1, &inner, nullptr, 0, nullptr));
  if (outer_immediate) finish(outer);
}

void create_queue(machine& m, ze_command_queue_flags_t flags) {
  const ze_command_queue_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                        nullptr,
                                        0,
                                        0,
                                        flags,
                                        ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
                                        ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
  ze_command_queue_handle_t queue = nullptr;
  maybe(zeCommandQueueCreate(m.context, m.device, &desc, &queue));
}

void destroy_queue(machine& m, bool wait_first, bool fence_first) {
  const auto queue = new_queue(m);
  const auto fence = new_fence(queue);
  const auto list = new_list(m);
  copy(list, new_memory(m), new_memory(m));
  close(list);
  execute(queue, list, fence);
  if (wait_first) MUST(zeFenceHostSynchronize(fence, for_ever));
  if (fence_first) MUST(zeFenceDestroy(fence));
  maybe(zeCommandQueueDestroy(queue));
}

// A mutable list with one barrier that waits for an event and signals another. It is executed,
// changed, closed and executed again; what stands here is right, and each program does one thing
// wrong.
struct mutable_program {
  explicit mutable_program(machine& on) : m(on) {
    const ze_mutable_command_list_exp_desc_t is_mutable = {
        ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_DESC, nullptr, 0};
    const ze_command_list_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, &is_mutable, 0, 0};
    MUST(zeCommandListCreate(m.context, m.device, &desc, &list));
    const ze_mutable_command_id_exp_desc_t which = {ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_ID_EXP_DESC,
                                                    nullptr, 0};
    MUST(zeCommandListGetNextCommandIdExp(list, &which, &id));
    auto start = new_event(pool, 0);
    MUST(zeCommandListAppendBarrier(list, new_event(pool, 1), 1, &start));
    MUST(zeEventHostSignal(start));
    close(list);
    execute(queue, list);
  }
  void update_signal(ze_event_handle_t event) {
    maybe(zeCommandListUpdateMutableCommandSignalEventExp(list, id, event));
  }
  void update_waits(std::vector<ze_event_handle_t> events) {
    maybe(zeCommandListUpdateMutableCommandWaitEventsExp(
        list, id, static_cast<uint32_t>(events.size()), events.data()));
  }
  void run_again() {
    maybe(zeCommandQueueExecuteCommandLists(queue, 1, &list, nullptr));
    finish(queue);
  }

  machine& m;
  ze_event_pool_handle_t pool = new_pool(m);
  ze_command_queue_handle_t queue = new_queue(m);
  ze_command_list_handle_t list = nullptr;
  uint64_t id = 0;
};

// All the updates there are, each as it should be.
void update_everything(machine& m) {
  mutable_program it(m);
  finish(it.queue);
  it.update_signal(new_event(it.pool, 2));
  const auto started = new_event(it.pool, 3);
  MUST(zeEventHostSignal(started));
  it.update_waits({started});
  close(it.list);
  it.run_again();
  it.update_signal(nullptr);
  it.update_waits({nullptr});
  close(it.list);
  it.run_again();
  it.update_waits({started});
  MUST(zeCommandListUpdateMutableCommandWaitEventsExp(it.list, it.id, 0, nullptr));
  close(it.list);
  it.run_again();
}

void update_and_close(machine& m, bool wait_first, bool close_again) {
  mutable_program it(m);
  if (wait_first) finish(it.queue);
  it.update_signal(new_event(it.pool, 2));
  if (!wait_first) finish(it.queue);
  if (close_again) close(it.list);
  it.run_again();
}

void update_to(machine& m, ze_event_scope_flags_t scope) {
  mutable_program it(m);
  finish(it.queue);
  it.update_signal(new_event(it.pool, 2, scope));
}

void update_count(machine& m, size_t count) {
  mutable_program it(m);
  finish(it.queue);
  std::vector<ze_event_handle_t> events;
  for (size_t i = 0; i < count; ++i)
    events.push_back(new_event(it.pool, 2 + static_cast<uint32_t>(i)));
  it.update_waits(events);
}

// A list and its clone signal the same event in turn, and copy from the same memory.
void use_clone(machine& m) {
  const auto list = new_list(m, ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE | ZE_COMMAND_LIST_FLAG_IN_ORDER);
  const auto event = new_counter_event(m);
  const auto from = new_memory(m), to = new_memory(m);
  copy(list, to, from, page, event);
  close(list);
  ze_command_list_handle_t clone = nullptr;
  MUST(zeCommandListCreateCloneExp(list, &clone));
  const auto queue = new_queue(m);
  for (const auto each : {clone, list, clone}) {
    execute(queue, each);
    MUST(zeEventHostSynchronize(event, for_ever));
    from[0] = 'x';
  }
  finish(queue);
  MUST(zeCommandListDestroy(clone));
}

}  // namespace

program_list list_programs() {
  return {
      {"34-open", [](machine& m) { append_and_execute(m, false, false); },
       [](machine& m) { append_and_execute(m, true, false); }},
      {"34-closed", [](machine& m) { append_and_execute(m, true, true); }, nullptr},
      {"34-flags",
       [](machine& m) {
         create_list(m, ZE_COMMAND_LIST_FLAG_IN_ORDER | ZE_COMMAND_LIST_FLAG_RELAXED_ORDERING);
       },
       [](machine& m) { create_list(m, ZE_COMMAND_LIST_FLAG_RELAXED_ORDERING); }},
      {"35-none", [](machine& m) { execute_lists(m, 0); }, [](machine& m) { execute_lists(m, 1); }},
      {"35-immediate", [](machine& m) { execute_immediate(m, true); },
       [](machine& m) { execute_immediate(m, false); }},
      {"35-group", [](machine& m) { execute_on_group(m, 1); },
       [](machine& m) { execute_on_group(m, 0); }},
      {"35-fence", [](machine& m) { execute_with_fence(m, true); },
       [](machine& m) { execute_with_fence(m, false); }},
      {"36-reset", [](machine& m) { use_again(m, false, then::reset); },
       [](machine& m) { use_again(m, true, then::reset); }},
      {"36-destroy", [](machine& m) { use_again(m, false, then::destroy); },
       [](machine& m) { use_again(m, true, then::destroy); }},
      {"36-execute", [](machine& m) { use_again(m, false, then::execute); },
       [](machine& m) { use_again(m, true, then::execute); }},
      {"36-immediate", [](machine& m) { destroy_immediate(m, false); },
       [](machine& m) { destroy_immediate(m, true); }},
      {"36-event", nullptr, reset_after_event},
      {"37-synchronise",
       [](machine& m) { maybe(zeCommandListHostSynchronize(new_list(m), for_ever)); },
       [](machine& m) { finish(new_immediate(m)); }},
      {"37-outer", [](machine& m) { append_list(m, false, false); },
       [](machine& m) { append_list(m, true, false); }},
      {"37-inner", [](machine& m) { append_list(m, true, true); }, nullptr},
      {"38", [](machine& m) { create_queue(m, ZE_COMMAND_QUEUE_FLAG_IN_ORDER); },
       [](machine& m) { create_queue(m, ZE_COMMAND_QUEUE_FLAG_EXPLICIT_ONLY); }},
      {"39-busy", [](machine& m) { destroy_queue(m, false, true); },
       [](machine& m) { destroy_queue(m, true, true); }},
      {"39-fence", [](machine& m) { destroy_queue(m, true, false); }, nullptr},
      {"43",
       [](machine& m) {
         maybe(zeCommandListUpdateMutableCommandSignalEventExp(new_list(m), 1, nullptr));
       },
       update_everything},
      {"43-close", [](machine& m) { update_and_close(m, true, false); },
       [](machine& m) { update_and_close(m, true, true); }},
      {"43-busy", [](machine& m) { update_and_close(m, false, true); }, nullptr},
      {"43-kind", [](machine& m) { update_to(m, ZE_EVENT_SCOPE_FLAG_DEVICE); },
       [](machine& m) { update_to(m, ZE_EVENT_SCOPE_FLAG_HOST); }},
      {"43-count", [](machine& m) { update_count(m, 2); }, [](machine& m) { update_count(m, 1); }},
      {"43-clone", nullptr, use_clone},
  };
}

}  // namespace rule_programs
