#include "checked_program.hpp"

namespace zevent::check {
namespace {

using argument = model::argument;
using function = model::function;

class failed_calls : public checked_program {
 protected:
  handle list = program.immediate_list(context, device);

  void fail_to_create_event() {
    program.returns(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    program.event(pool);
  }
  // The message of the only finding of the rule; empty when there is none.
  std::string message_of(unsigned rule) const {
    std::string text;
    for (const auto& each : findings) {
      if (each.rule == ev(rule)) text += each.message;
    }
    return text;
  }
  bool mentions(unsigned rule, std::string_view words) const {
    return message_of(rule).find(words) != std::string::npos;
  }
};

TEST_F(failed_calls, that_should_have_made_an_event_leave_a_null_handle) {
  fail_to_create_event();
  program.returns(ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  program.synchronise(0);
  EXPECT_EQ(broken(), "EV-74");
  EXPECT_TRUE(mentions(74, "zeEventCreate")) << message_of(74);
  EXPECT_TRUE(mentions(74, "ERROR_OUT_OF_HOST_MEMORY")) << message_of(74);
}

TEST_F(failed_calls, matter_to_no_one_who_does_without) {
  fail_to_create_event();
  program.copy(list, a, b, 64);
  program.synchronise_list(list);
  EXPECT_EQ(broken(), "");
}

TEST_F(failed_calls, that_should_have_made_memory_leave_a_null_pointer) {
  program.returns(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
  program.memory(context, device, 4096);
  program.returns(ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  program.call(function::zeCommandListAppendMemoryCopy, [&](model::call_view& call) {
    call.set(argument::hCommandList, list);
    call.set_null(argument::dstptr);
    call.set(argument::srcptr, a);
    call.set(argument::size, 64);
  });
  EXPECT_EQ(broken(), "EV-74");
}

TEST_F(failed_calls, that_should_have_signalled_leave_the_waiter_alone) {
  const auto event = program.event(pool);
  program.returns(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
  program.copy(list, a, b, 64, {event});
  program.never_returns();
  program.synchronise(event);
  EXPECT_EQ(broken(), "EV-12 EV-74");
}

TEST_F(failed_calls, that_are_repeated_signal_all_the_same) {
  const auto event = program.event(pool);
  program.returns(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
  program.copy(list, a, b, 64, {event});
  program.copy(list, a, b, 64, {event});
  program.synchronise(event);
  EXPECT_EQ(broken(), "");
}

TEST_F(failed_calls, whose_event_the_host_signals_are_made_up_for) {
  const auto event = program.event(pool);
  program.returns(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
  program.copy(list, a, b, 64, {event});
  program.host_signal(event);
  program.synchronise(event);
  EXPECT_EQ(broken(), "");
}

TEST_F(failed_calls, that_should_have_executed_a_list_signal_neither_its_events_nor_the_fence) {
  const auto queue = program.queue(context, device);
  const auto regular = program.list(context, device);
  const auto event = program.event(pool);
  const auto fence = program.fence(queue);
  program.copy(regular, a, b, 64, {event});
  program.close(regular);
  program.returns(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
  program.execute(queue, {regular}, fence);
  program.returns(ZE_RESULT_NOT_READY);
  program.query(event);
  program.returns(ZE_RESULT_NOT_READY);
  program.call(function::zeFenceQueryStatus, {{argument::hFence, fence}});
  EXPECT_EQ(broken(), "EV-74");
  EXPECT_EQ(findings.size(), 2u);
}

TEST_F(failed_calls, that_should_have_set_an_argument_leave_the_old_value) {
  const auto kernel = program.new_handle();
  program.call(function::zeKernelCreate, {{argument::phKernel, kernel}});
  const auto set = [&] {
    program.call(function::zeKernelSetArgumentValue, {{argument::hKernel, kernel},
                                                      {argument::argIndex, 0},
                                                      {argument::argSize, 4},
                                                      {argument::pArgValue, 1}});
  };
  set();
  program.returns(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
  set();
  program.launch(list, kernel);
  program.synchronise_list(list);
  EXPECT_EQ(broken(), "EV-74");
}

TEST_F(failed_calls, that_should_have_replaced_a_destroyed_event_leave_its_handle) {
  const auto event = program.event(pool);
  program.destroy_event(event);
  fail_to_create_event();
  program.returns(ZE_RESULT_ERROR_INVALID_ARGUMENT);
  program.query(event);
  EXPECT_EQ(broken(), "EV-8 EV-74");
}

// A finding says that the driver refused the call, and what came of it.
class refused_calls_of_a_program : public failed_calls {
 protected:
  void refused_fill() {
    program.returns(ZE_RESULT_ERROR_INVALID_SIZE);
    program.fill(list, a, 3 * 16, {}, 3);
  }
};

TEST_F(refused_calls_of_a_program, are_told_as_refused) {
  refused_fill();
  program.synchronise_list(list);
  EXPECT_EQ(broken(), "EV-46");
  EXPECT_TRUE(mentions(46, "The driver refused it: ERROR_INVALID_SIZE. The program went on with"))
      << message_of(46);
}

TEST_F(refused_calls_of_a_program, are_told_as_repeated) {
  refused_fill();
  program.fill(list, a, 64);
  EXPECT_EQ(broken(), "EV-46");
  EXPECT_TRUE(mentions(46, "called zeCommandListAppendMemoryFill again")) << message_of(46);
}

TEST_F(refused_calls_of_a_program, are_told_as_its_end) {
  refused_fill();
  program.free(context, a);
  EXPECT_EQ(broken(), "EV-46");
  EXPECT_TRUE(mentions(46, "The program stopped after it.")) << message_of(46);
}

TEST_F(refused_calls_of_a_program, that_succeed_are_told_as_before) {
  program.fill(list, a, 3 * 16, {}, 3);
  EXPECT_EQ(broken(), "EV-46");
  EXPECT_FALSE(mentions(46, "refused")) << message_of(46);
}

TEST_F(refused_calls_of_a_program, that_no_rule_explains_are_a_note) {
  program.returns(ZE_RESULT_ERROR_INVALID_ARGUMENT);
  program.barrier(list);
  EXPECT_EQ(broken(), "");
  EXPECT_TRUE(mentions(79, "zeCommandListAppendBarrier")) << message_of(79);
}

TEST_F(refused_calls_of_a_program, that_lack_memory_or_a_feature_are_not_told) {
  program.returns(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
  program.memory(context, device, 4096);
  program.returns(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
  program.barrier(list);
  EXPECT_EQ(broken(), "");
  EXPECT_EQ(message_of(79), "");
}

// As Intel's driver does.
TEST_F(refused_calls_of_a_program, that_wait_for_a_counter_based_event_without_signal_break_EV_50) {
  const auto event = program.counter_event(context, device);
  program.returns(ZE_RESULT_ERROR_INVALID_ARGUMENT);
  program.barrier(list, {0, {event}});
  EXPECT_EQ(broken(), "EV-50");
  EXPECT_TRUE(mentions(50, "refused it: ERROR_INVALID_ARGUMENT")) << message_of(50);
}

TEST_F(failed_calls, on_a_handle_that_was_never_made_explain_a_crash) {
  program.never_returns();
  program.query(0x1234);
  findings = judge.finish({}, {}, {0});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings.front().rule, ev(8));
  EXPECT_TRUE(mentions(8, "0x1234")) << message_of(8);
  EXPECT_TRUE(mentions(8, "the process crashed")) << message_of(8);
}

TEST_F(failed_calls, on_a_destroyed_handle_explain_a_crash) {
  const auto event = program.event(pool);
  program.destroy_event(event);
  program.never_returns();
  program.query(event);
  findings = judge.finish({}, {}, {0});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings.front().rule, ev(8));
  EXPECT_TRUE(mentions(8, "the process crashed")) << message_of(8);
}

TEST_F(failed_calls, with_a_null_pointer_explain_a_crash) {
  program.never_returns();
  program.call(function::zeCommandListAppendMemoryCopy, [&](model::call_view& call) {
    call.set(argument::hCommandList, list);
    call.set(argument::dstptr, 0x5000);
    call.set_null(argument::srcptr);
    call.set(argument::size, 64);
  });
  findings = judge.finish({}, {}, {0});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings.front().rule, ev(79));
  EXPECT_EQ(findings.front().level, severity::error);
  EXPECT_TRUE(mentions(79, "srcptr is null")) << message_of(79);
  EXPECT_TRUE(mentions(79, "the process crashed")) << message_of(79);
}

TEST_F(failed_calls, that_hang_on_an_unknown_handle_are_not_judged) {
  program.never_returns();
  program.query(0x1234);
  EXPECT_EQ(broken(), "");
}

}  // namespace
}  // namespace zevent::check
