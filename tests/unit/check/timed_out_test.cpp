#include "checked_program.hpp"

namespace zevent::check {
namespace {

class timed_out_waits : public checked_program {
 protected:
  static constexpr uint64_t a_moment_ns = 1000;

  void wait_in_vain(handle waited_for, uint32_t thread = 0) {
    program.on_thread(thread).returns(ZE_RESULT_NOT_READY).synchronise(waited_for, a_moment_ns);
  }
  // "EV-12 hazard"; empty when nothing was found.
  std::string found() {
    const std::string rules = broken();
    return rules.empty() ? "" : rules + " " + std::string(to_text(findings.front().level));
  }

  handle event = program.event(pool);
  handle list = program.immediate_list(context, device);
};

TEST_F(timed_out_waits, for_what_nothing_signals_could_not_have_ended) {
  wait_in_vain(event);
  program.destroy_event(event);
  EXPECT_EQ(found(), "EV-12 hazard");
}

TEST_F(timed_out_waits, for_what_the_same_thread_signals_later_could_not_have_ended) {
  wait_in_vain(event);
  program.barrier(list, {.signal = event});
  program.synchronise(event);
  ASSERT_EQ(found(), "EV-12 hazard");
  EXPECT_EQ(findings.front().calls.back().role, "signals it later");
}

TEST_F(timed_out_waits, for_a_list_that_is_executed_later_could_not_have_ended) {
  const auto regular = program.list(context, device);
  const auto queue = program.queue(context, device);
  program.barrier(regular, {.signal = event});
  program.close(regular);
  wait_in_vain(event);
  program.execute(queue, {regular});
  program.synchronise_queue(queue);
  ASSERT_EQ(found(), "EV-12 hazard");
  EXPECT_NE(findings.front().steps.front().find("had not been executed"), std::string::npos);
}

TEST_F(timed_out_waits, for_a_counter_event_of_a_list_that_is_executed_later_neither) {
  const auto regular = program.list(context, device, ZE_COMMAND_LIST_FLAG_IN_ORDER);
  const auto queue = program.queue(context, device);
  const auto counter = program.counter_event(context, device);
  program.barrier(regular, {.signal = counter});
  program.close(regular);
  wait_in_vain(counter);
  program.execute(queue, {regular});
  program.synchronise_queue(queue);
  EXPECT_EQ(found(), "EV-12 hazard");
}

TEST_F(timed_out_waits, after_a_reset_could_not_have_ended) {
  program.barrier(list, {.signal = event});
  program.synchronise(event);
  program.host_reset(event);
  wait_in_vain(event);
  EXPECT_EQ(found(), "EV-12 hazard");
}

TEST_F(timed_out_waits, are_reported_once_however_often_they_are_repeated) {
  wait_in_vain(event);
  wait_in_vain(event);
  ASSERT_EQ(found(), "EV-12 hazard");
  EXPECT_EQ(findings.size(), 1u);
}

TEST_F(timed_out_waits, for_what_is_under_way_were_too_short) {
  program.barrier(list, {.signal = event});
  wait_in_vain(event);
  program.synchronise(event);
  EXPECT_EQ(found(), "");
}

TEST_F(timed_out_waits, for_what_another_thread_signals_later_came_too_early) {
  wait_in_vain(event, 1);
  program.on_thread(2).host_signal(event);
  program.on_thread(1).synchronise(event);
  EXPECT_EQ(found(), "");
}

TEST_F(timed_out_waits, that_are_repeated_beside_other_threads_are_polls) {
  wait_in_vain(event, 1);
  program.on_thread(2).barrier(list);
  wait_in_vain(event, 1);
  program.on_thread(2).synchronise_list(list);
  EXPECT_EQ(found(), "");
}

TEST_F(timed_out_waits, for_an_exported_event_may_be_ended_by_another_process) {
  const auto shared =
      program.pool(context, 1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_IPC);
  const auto exported = program.event(shared);
  program.call(function::zeEventPoolGetIpcHandle, {{argument::hEventPool, shared}});
  wait_in_vain(exported);
  EXPECT_EQ(found(), "");
}

TEST_F(timed_out_waits, without_a_limit_or_a_time_are_not_meant) {
  program.returns(ZE_RESULT_NOT_READY).synchronise(event, 0);
  EXPECT_EQ(found(), "");
}

class timed_out_cycles : public timed_out_waits {
 protected:
  void make_cycle() {
    program.barrier(list, {.waits = {back}});
    program.barrier(list, {.signal = event});
    program.barrier(other, {.waits = {event}});
    program.barrier(other, {.signal = back});
  }
  void wait_for_list_in_vain() {
    program.returns(ZE_RESULT_NOT_READY)
        .call(function::zeCommandListHostSynchronize,
              {{argument::hCommandList, other}, {argument::timeout, a_moment_ns}});
  }
  void finish_lists() {
    program.synchronise_list(list);
    program.synchronise_list(other);
  }

  handle back = program.event(pool, 1);
  handle other = program.immediate_list(context, device);
};

TEST_F(timed_out_cycles, that_the_host_breaks_afterwards_are_hazards) {
  make_cycle();
  wait_for_list_in_vain();
  program.host_signal(back);
  finish_lists();
  ASSERT_EQ(found(), "EV-13 hazard");
  EXPECT_EQ(findings.front().calls.back().role, "breaks the cycle");
}

TEST_F(timed_out_cycles, are_found_from_a_wait_for_an_event_too) {
  make_cycle();
  wait_in_vain(event);
  program.host_signal(back);
  finish_lists();
  EXPECT_EQ(found(), "EV-13 hazard");
}

TEST_F(timed_out_cycles, are_errors_when_an_event_is_destroyed_to_break_them) {
  make_cycle();
  wait_for_list_in_vain();
  program.destroy_event(back);
  EXPECT_EQ(found(), "EV-7 EV-13 error");
}

TEST_F(timed_out_cycles, that_the_host_breaks_at_once_are_legal) {
  make_cycle();
  program.host_signal(back);
  finish_lists();
  EXPECT_EQ(found(), "");
}

TEST_F(timed_out_cycles, that_another_thread_breaks_may_have_been_broken_in_time) {
  make_cycle();
  wait_for_list_in_vain();
  program.on_thread(2).host_signal(back);
  finish_lists();
  EXPECT_EQ(found(), "");
}

TEST_F(timed_out_cycles, that_a_command_breaks_were_no_cycles) {
  make_cycle();
  wait_for_list_in_vain();
  program.barrier(program.immediate_list(context, device), {.signal = back});
  program.host_signal(program.event(pool, 2));
  finish_lists();
  EXPECT_EQ(found(), "");
}

TEST_F(timed_out_cycles, that_nothing_breaks_are_errors) {
  make_cycle();
  wait_for_list_in_vain();
  EXPECT_EQ(found(), "EV-13 error");
}

}  // namespace
}  // namespace zevent::check
