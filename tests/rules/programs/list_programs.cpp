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

// A list is given another event to signal between two executions, and closed again or not.
void update_list(machine& m, bool close_again) {
  const ze_mutable_command_list_exp_desc_t is_mutable = {
      ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_DESC, nullptr, 0};
  const ze_command_list_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, &is_mutable, 0, 0};
  ze_command_list_handle_t list = nullptr;
  MUST(zeCommandListCreate(m.context, m.device, &desc, &list));
  const ze_mutable_command_id_exp_desc_t which = {ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_ID_EXP_DESC,
                                                  nullptr,
                                                  ZE_MUTABLE_COMMAND_EXP_FLAG_SIGNAL_EVENT};
  uint64_t id = 0;
  MUST(zeCommandListGetNextCommandIdExp(list, &which, &id));
  const auto pool = new_pool(m);
  barrier(list, new_event(pool, 0));
  close(list);
  const auto queue = new_queue(m);
  execute(queue, list);
  finish(queue);
  MUST(zeCommandListUpdateMutableCommandSignalEventExp(list, id, new_event(pool, 1)));
  if (close_again) close(list);
  maybe(zeCommandQueueExecuteCommandLists(queue, 1, &list, nullptr));
  finish(queue);
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
       nullptr},
      {"43-close", [](machine& m) { update_list(m, false); },
       [](machine& m) { update_list(m, true); }},
  };
}

}  // namespace rule_programs
