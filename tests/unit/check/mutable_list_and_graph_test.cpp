#include <gtest/gtest.h>

#include "check/checker.hpp"
#include "checked_program.hpp"

// Lists that are changed after they were appended to, and graphs that are captured from lists.
namespace zevent::check {
namespace {

class mutable_lists : public checked_program {
 protected:
  handle mutable_list() {
    const handle made = program.new_handle();
    program.call(function::zeCommandListCreate, {{argument::hContext, context},
                                                 {argument::hDevice, device},
                                                 {argument::desc, 1},
                                                 {argument::flags, 0},
                                                 {argument::mutable_flags, 0},
                                                 {argument::phCommandList, made}});
    program.call(function::zeCommandListGetNextCommandIdExp,
                 {{argument::hCommandList, made}, {argument::commandId, 7}});
    return made;
  }
  void replace_signal(handle of, handle event) {
    program.call(
        function::zeCommandListUpdateMutableCommandSignalEventExp,
        {{argument::hCommandList, of}, {argument::commandId, 7}, {argument::hSignalEvent, event}});
  }
  handle list = mutable_list();
  handle queue = program.queue(context, device);
  handle first = program.event(pool, 0);
};

TEST_F(mutable_lists, are_updated_between_executions_and_closed_again) {
  program.barrier(list, {.signal = first});
  program.close(list);
  program.execute(queue, {list});
  program.synchronise_queue(queue);
  replace_signal(list, program.event(pool, 1));
  program.close(list);
  program.execute(queue, {list});
  program.synchronise_queue(queue);
  EXPECT_EQ(broken(), "");
}

TEST_F(mutable_lists, are_not_updated_while_they_run) {
  program.barrier(list, {.signal = first});
  program.close(list);
  program.execute(queue, {list});
  replace_signal(list, program.event(pool, 1));
  program.synchronise_queue(queue);
  EXPECT_EQ(broken(), "EV-43");
}

TEST_F(mutable_lists, are_not_executed_before_they_are_closed) {
  program.barrier(list, {.signal = first});
  program.close(list);
  replace_signal(list, program.event(pool, 1));
  program.execute(queue, {list});
  program.synchronise_queue(queue);
  EXPECT_EQ(broken(), "EV-43");
}

TEST_F(mutable_lists, take_events_of_the_same_kind_only) {
  program.barrier(list, {.signal = first});
  program.close(list);
  replace_signal(list, program.event(pool, 1, ZE_EVENT_SCOPE_FLAG_DEVICE));
  program.close(list);
  EXPECT_EQ(broken(), "EV-43");
}

TEST_F(mutable_lists, are_compared_with_what_was_appended_not_with_what_is_there) {
  const handle second = program.event(pool, 1), third = program.event(pool, 2);
  program.barrier(list, {.signal = first, .waits = {second, third}});
  program.close(list);
  const auto replace_waits = [&](std::vector<handle> events) {
    program.call(function::zeCommandListUpdateMutableCommandWaitEventsExp,
                 [&](model::call_view& call) {
                   call.set(argument::hCommandList, list);
                   call.set(argument::commandId, 7);
                   call.set(argument::numWaitEvents, events.size());
                   call.set_list(argument::phWaitEvents, events);
                 });
  };
  replace_waits({third, 0});
  replace_waits({second, third});
  replace_signal(list, 0);
  replace_signal(list, program.event(pool, 3));
  program.close(list);
  EXPECT_EQ(broken(), "");
}

TEST_F(mutable_lists, take_events_of_the_same_kind_where_one_was_taken_out) {
  program.barrier(list, {.signal = first});
  program.close(list);
  replace_signal(list, 0);
  replace_signal(list, program.event(pool, 1, ZE_EVENT_SCOPE_FLAG_DEVICE));
  program.close(list);
  EXPECT_EQ(broken(), "EV-43");
}

class graphs : public checked_program {
 protected:
  void begin_capture(handle on) {
    program.call(function::zeCommandListBeginGraphCaptureExt, {{argument::hCommandList, on}});
  }
  void end_capture(handle on) {
    program.call(function::zeCommandListEndGraphCaptureExt,
                 {{argument::hCommandList, on}, {argument::phGraph, program.new_handle()}});
  }
  handle list = program.in_order_immediate_list(context, device);
  handle other = program.in_order_immediate_list(context, device);
  handle event = program.counter_event(context, device);
};

TEST_F(graphs, are_captured_and_joined) {
  begin_capture(list);
  program.barrier(list, {.signal = event});
  program.barrier(other, {.waits = {event}});  // a fork: it captures too
  program.barrier(other, {.signal = event});
  program.barrier(list, {.waits = {event}});
  end_capture(list);
  program.barrier(other, {.signal = event});
  program.synchronise(event);
  EXPECT_EQ(broken(), "");
}

TEST_F(graphs, are_not_waited_for_while_they_are_captured) {
  begin_capture(list);
  program.barrier(list, {.signal = event});
  program.returns(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE).synchronise(event);
  program.returns(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE).synchronise_list(list);
  EXPECT_EQ(broken(), "EV-66");
}

TEST_F(graphs, let_commands_run_while_their_capture_is_paused) {
  begin_capture(list);
  const handle graph = program.new_handle();
  program.call(function::zeCommandListGetGraphExt,
               {{argument::hCommandList, list}, {argument::phGraph, graph}});
  program.call(function::zeGraphPauseCaptureExt, {{argument::hGraph, graph}});
  program.barrier(list, {.signal = event});
  program.synchronise(event);
  program.synchronise_list(list);
  program.call(function::zeGraphResumeCaptureExt, {{argument::hGraph, graph}});
  end_capture(list);
  EXPECT_EQ(broken(), "");
}

TEST_F(graphs, are_not_waited_for_when_their_capture_goes_on) {
  begin_capture(list);
  const handle graph = program.new_handle();  // whose it is, nobody told
  program.call(function::zeGraphPauseCaptureExt, {{argument::hGraph, graph}});
  program.synchronise_list(list);
  program.call(function::zeGraphResumeCaptureExt, {{argument::hGraph, graph}});
  program.returns(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE).synchronise_list(list);
  EXPECT_EQ(broken(), "EV-66");
  EXPECT_EQ(findings.size(), 1u) << "only of the second wait";
}

TEST_F(graphs, keep_their_internal_events) {
  begin_capture(list);
  program.barrier(list, {.signal = event});
  end_capture(list);
  program.barrier(other, {.waits = {event}});
  EXPECT_EQ(broken(), "EV-67");
}

TEST_F(graphs, let_external_events_out) {
  const auto external = program.counter_event(context, device,
                                              ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE |
                                                  ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE |
                                                  ZE_EVENT_COUNTER_BASED_FLAG_GRAPH_EXTERNAL);
  begin_capture(list);
  program.barrier(list, {.signal = external});
  end_capture(list);
  program.barrier(other, {.waits = {external}});
  EXPECT_EQ(broken(), "");
}

TEST_F(graphs, are_not_merged) {
  begin_capture(list);
  begin_capture(other);
  program.barrier(list, {.signal = event});
  program.returns(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE).barrier(other, {.waits = {event}});
  EXPECT_EQ(broken(), "EV-68");
}

TEST_F(graphs, are_captured_on_asynchronous_immediate_lists) {
  begin_capture(program.immediate_list(context, device, ZE_COMMAND_QUEUE_FLAG_IN_ORDER,
                                       ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS));
  EXPECT_EQ(broken(), "EV-69");
}

}  // namespace
}  // namespace zevent::check
