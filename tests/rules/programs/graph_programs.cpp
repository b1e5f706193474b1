#include "rule_program.hpp"

// Those that capture are run on a driver that can: rule_program_test.py.
namespace rule_programs {
namespace {

void begin(ze_command_list_handle_t list) {
  MUST(zeCommandListBeginGraphCaptureExt(list, nullptr));
}

void end(ze_command_list_handle_t list) {
  ze_graph_handle_t graph = nullptr;
  MUST(zeCommandListEndGraphCaptureExt(list, nullptr, &graph));
}

void wait_for_capture(machine& m, bool while_capturing) {
  const auto list = new_in_order_immediate(m);
  begin(list);
  barrier(list, new_counter_event(m));
  if (while_capturing) maybe(zeCommandListHostSynchronize(list, for_ever));
  end(list);
  finish(list);
}

void ask_for_event(machine& m, bool while_capturing) {
  const auto list = new_in_order_immediate(m);
  const auto captured = new_counter_event(m);
  begin(list);
  barrier(list, captured);
  const auto other = new_counter_event(m);
  barrier(new_in_order_immediate(m), other);
  maybe(zeEventQueryStatus(while_capturing ? captured : other));
  end(list);
}

void wait_outside(machine& m, ze_event_counter_based_flags_t flags) {
  const auto list = new_in_order_immediate(m);
  const auto event = new_counter_event(m, flags);
  begin(list);
  barrier(list, event);
  end(list);
  const auto other = new_in_order_immediate(m);
  barrier(other, nullptr, {event});
  finish(other);
}

// One that waits for an event of a capture joins it, unless it captures for itself.
void wait_for_another(machine& m, bool captures_too) {
  const auto list = new_in_order_immediate(m);
  const auto other = new_in_order_immediate(m);
  const auto forked = new_counter_event(m);
  const auto joined = new_counter_event(m);
  begin(list);
  if (captures_too) begin(other);
  barrier(list, forked);
  maybe(zeCommandListAppendBarrier(other, joined, 1, const_cast<ze_event_handle_t*>(&forked)));
  if (captures_too)
    end(other);
  else
    barrier(list, nullptr, {joined});
  end(list);
}

}  // namespace

program_list graph_programs() {
  return {
      {"66", [](machine& m) { wait_for_capture(m, true); },
       [](machine& m) { wait_for_capture(m, false); }},
      {"66-event", [](machine& m) { ask_for_event(m, true); },
       [](machine& m) { ask_for_event(m, false); }},
      {"67", [](machine& m) { wait_outside(m, 0); },
       [](machine& m) { wait_outside(m, ZE_EVENT_COUNTER_BASED_FLAG_GRAPH_EXTERNAL); }},
      {"68", [](machine& m) { wait_for_another(m, true); },
       [](machine& m) { wait_for_another(m, false); }},
      {"69", [](machine& m) { maybe(zeCommandListBeginGraphCaptureExt(new_list(m), nullptr)); },
       [](machine& m) {
         maybe(zeCommandListBeginGraphCaptureExt(new_in_order_immediate(m), nullptr));
       }},
  };
}

}  // namespace rule_programs
