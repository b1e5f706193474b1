#include "checked_program.hpp"

namespace zevent::check {
namespace {

// A copy on its way, whose event the program asks for once.
class polls : public checked_program {
 protected:
  void ask_in_vain(handle of) { program.returns(ZE_RESULT_NOT_READY).synchronise(of, 0); }
  void ask_for_times_in_vain(handle of) {
    program.returns(ZE_RESULT_NOT_READY)
        .call(function::zeEventQueryKernelTimestamp, {{argument::hEvent, of}});
  }

  handle list = program.in_order_immediate_list(context, device);
  handle other = program.immediate_list(context, device);
  handle event = program.event(pool);
};

TEST_F(polls, that_are_not_repeated_before_the_end_did_not_wait) {
  program.copy(list, b, a, 4096, {.signal = event});
  ask_in_vain(event);
  EXPECT_EQ(broken(), "EV-18");
}

TEST_F(polls, that_are_not_repeated_before_the_memory_is_freed_did_not_wait) {
  program.copy(list, b, a, 4096);
  const auto signals = program.barrier(list, {.signal = event});
  ask_in_vain(event);
  program.free(context, b);
  program.synchronise(event);
  ASSERT_EQ(broken(), "EV-18 EV-44");
  const auto& calls = findings.front().rule == ev(18) ? findings.front() : findings.back();
  EXPECT_EQ(calls.calls.front().call, signals);
  EXPECT_EQ(calls.calls.back().role, "frees memory that it uses");
}

TEST_F(polls, for_a_counter_event_neither) {
  const auto counter = program.counter_event(context, device);
  program.copy(list, b, a, 4096, {.signal = counter});
  ask_in_vain(counter);
  program.free(context, b);
  EXPECT_EQ(broken(), "EV-18 EV-44");
}

TEST_F(polls, that_are_not_repeated_before_the_data_is_used_did_not_wait) {
  program.copy(list, b, a, 4096, {.signal = event});
  ask_in_vain(event);
  program.copy(other, c, b, 4096);
  program.synchronise(event);
  program.synchronise_list(other);
  EXPECT_EQ(broken(), "EV-18 EV-25");
}

TEST_F(polls, do_not_make_an_earlier_race_worse) {
  const auto gate = program.event(pool, 1);
  program.copy(list, b, a, 4096, {.signal = event});
  program.copy(other, c, b, 4096, {.waits = {gate}});
  ask_in_vain(event);
  program.host_signal(gate);
  program.synchronise(event);
  program.synchronise_list(other);
  EXPECT_EQ(broken(), "EV-25");
}

TEST_F(polls, followed_by_any_wait_are_questions) {
  program.copy(list, b, a, 4096, {.signal = event});
  ask_in_vain(event);
  program.synchronise_list(list);
  program.copy(other, c, b, 4096);
  program.synchronise_list(other);
  program.free(context, b);
  program.destroy_event(event);
  EXPECT_EQ(broken(), "");
}

TEST_F(polls, of_a_counter_event_that_is_then_destroyed_are_questions) {
  const auto counter = program.counter_event(context, device);
  program.copy(list, b, a, 4096, {.signal = counter});
  ask_in_vain(counter);
  program.destroy_event(counter);
  program.synchronise_list(list);
  EXPECT_EQ(broken(), "");
}

TEST_F(polls, about_other_work_than_the_memory_is_used_by_are_questions) {
  program.copy(other, c, a, 4096);
  program.copy(list, b, a, 4096, {.signal = event});
  ask_in_vain(event);
  program.synchronise_list(other);
  program.free(context, c);
  program.synchronise(event);
  EXPECT_EQ(broken(), "");
}

class polls_for_times : public polls {
 protected:
  handle timed_pool = program.pool(
      context, 1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
  handle timed = program.event(timed_pool);
};

TEST_F(polls_for_times, that_are_not_repeated_before_the_pool_is_destroyed_got_nothing) {
  program.copy(list, b, a, 4096, {.signal = timed});
  ask_for_times_in_vain(timed);
  program.synchronise_list(list);
  program.call(function::zeEventPoolDestroy, {{argument::hEventPool, timed_pool}});
  EXPECT_EQ(broken(), "EV-6 EV-29");
}

TEST_F(polls_for_times, that_are_not_repeated_before_the_next_signal_got_nothing) {
  program.copy(list, b, a, 4096, {.signal = timed});
  ask_for_times_in_vain(timed);
  program.synchronise_list(list);
  program.copy(list, c, a, 4096, {.signal = timed});
  program.synchronise_list(list);
  program.call(function::zeEventQueryKernelTimestamp, {{argument::hEvent, timed}});
  ASSERT_EQ(broken(), "EV-29");
  EXPECT_EQ(findings.front().calls.back().role, "signals the event again");
}

TEST_F(polls_for_times, of_a_command_that_starts_later_may_be_repeated_after_it) {
  const auto gate = program.event(pool, 1);
  program.copy(list, b, a, 4096, {.signal = timed, .waits = {gate}});
  ask_for_times_in_vain(timed);
  program.host_signal(gate);
  program.synchronise_list(list);
  program.call(function::zeEventQueryKernelTimestamp, {{argument::hEvent, timed}});
  EXPECT_EQ(broken(), "");
}

TEST_F(polls_for_times, by_other_functions_count_too) {
  const auto ask = [&](uint64_t room, ze_result_t result) {
    program.returns(result).call(function::zeEventQueryTimestampsExp,
                                 {{argument::hEvent, timed}, {argument::count_given, room}});
  };
  program.copy(list, b, a, 4096, {.signal = timed});
  ask(1, ZE_RESULT_NOT_READY);
  ask(0, ZE_RESULT_SUCCESS);  // for the number only
  program.synchronise_list(list);
  program.destroy_event(timed);
  EXPECT_EQ(broken(), "EV-29");
}

}  // namespace
}  // namespace zevent::check
