#include "checked_program.hpp"

namespace zevent::check {
namespace {

using argument = model::argument;
using function = model::function;

class end_of_process : public checked_program {
 protected:
  end_of_process() { is_whole = true; }

  size_t leaks(severity level, std::string_view words) const {
    size_t found = 0;
    for (const auto& each : findings) {
      if (each.rule == ev(76) && each.level == level &&
          each.message.find(words) != std::string::npos)
        ++found;
    }
    return found;
  }
};

TEST_F(end_of_process, with_a_pending_copy_is_a_hazard) {
  const auto list = program.immediate_list(context, device);
  program.copy(list, a, b, 64);
  EXPECT_EQ(broken(), "EV-76");
}

TEST_F(end_of_process, after_a_wait_is_none) {
  const auto list = program.immediate_list(context, device);
  program.copy(list, a, b, 64);
  program.synchronise_list(list);
  EXPECT_EQ(broken(), "");
}

TEST_F(end_of_process, after_a_wait_for_an_event_of_another_process_is_none) {
  const auto list = program.immediate_list(context, device);
  program.copy(list, a, b, 64);
  const auto imported = program.new_handle();
  program.call(function::zeEventCounterBasedOpenIpcHandle,
               {{argument::hContext, context}, {argument::phEvent, imported}});
  program.synchronise(imported);
  EXPECT_EQ(broken(), "");
}

TEST_F(end_of_process, with_a_pending_barrier_is_a_note) {
  const auto list = program.immediate_list(context, device);
  program.barrier(list);
  EXPECT_EQ(broken(), "");
  EXPECT_EQ(leaks(severity::note, "nothing shows that"), 1u);
}

TEST_F(end_of_process, by_a_kill_says_nothing) {
  const auto list = program.immediate_list(context, device);
  program.copy(list, a, b, 64);
  EXPECT_TRUE(judge.finish({}, {0}).empty());
}

TEST_F(end_of_process, by_a_crash_says_nothing) {
  const auto list = program.immediate_list(context, device);
  program.copy(list, a, b, 64);
  EXPECT_TRUE(judge.finish({}, {}, {0}).empty());
}

TEST_F(end_of_process, counts_what_is_left_by_function_and_thread) {
  for (uint32_t i = 0; i < 3; ++i) program.event(pool, i);
  program.on_thread(1);
  program.event(pool, 3);
  EXPECT_EQ(broken(), "");
  EXPECT_EQ(leaks(severity::note, "3 events, made by zeEventCreate on thread T1"), 1u);
  EXPECT_EQ(leaks(severity::note, "1 event, made by zeEventCreate on thread T2"), 1u);
  EXPECT_EQ(leaks(severity::note, "12288 bytes in 3 allocations"), 1u);
}

TEST_F(end_of_process, does_not_count_what_was_destroyed) {
  const auto event = program.event(pool);
  program.destroy_event(event);
  for (const auto memory : {a, b, c}) program.free(context, memory);
  program.call(function::zeEventPoolDestroy, {{argument::hEventPool, pool}});
  program.call(function::zeContextDestroy, {{argument::hContext, context}});
  EXPECT_EQ(broken(), "");
  EXPECT_TRUE(findings.empty());
}

TEST_F(end_of_process, counts_memory_of_a_destroyed_context) {
  program.call(function::zeContextDestroy, {{argument::hContext, context}});
  broken();
  EXPECT_EQ(leaks(severity::note, "12288 bytes in 3 allocations"), 1u);
}

TEST_F(end_of_process, does_not_count_the_default_context) {
  checker other;
  model::hand_made_program<checker> small{other};
  small.call(function::zeDriverGetDefaultContext, {{argument::returned, 0x10}});
  EXPECT_TRUE(other.finish().empty());
}

TEST_F(end_of_process, with_objects_is_a_hazard_where_the_user_asks_for_leaks) {
  check_options options;
  options.leaks = true;
  checker other({}, options);
  model::hand_made_program<checker> small{other};
  small.context();
  findings = other.finish();
  EXPECT_EQ(leaks(severity::hazard, "1 context, made by zeContextCreate"), 1u);
}

// What a reader needs to mend it: which fences, where they come from, what becomes of them.
TEST_F(checked_program, of_fences_that_outlive_their_queue_says_what_becomes_of_them) {
  const auto queue = program.queue(context, device);
  const auto list = program.list(context, device);
  program.barrier(list);
  program.close(list);
  const auto used = program.fence(queue);
  const auto unused = program.fence(queue);
  const auto submission = program.execute(queue, {list}, used);
  program.synchronise_queue(queue);
  const auto destroyed =
      program.call(function::zeCommandQueueDestroy, {{argument::hCommandQueue, queue}});
  const auto late = program.call(function::zeFenceDestroy, {{argument::hFence, unused}});
  EXPECT_EQ(broken(), "EV-39");
  ASSERT_EQ(findings.size(), 1u);
  const finding& found = findings.front();
  EXPECT_NE(found.message.find("while 2 of its fences still exist"), std::string::npos);
  ASSERT_EQ(found.steps.size(), 2u);
  const auto number = [](auto call) { return fmt::format("#{}", trace::number_of(call)); };
  EXPECT_NE(found.steps[0].find("last used by the submission " + number(submission)),
            std::string::npos)
      << found.steps[0];
  EXPECT_NE(found.steps[0].find("it is leaked"), std::string::npos) << found.steps[0];
  EXPECT_EQ(found.steps[1].find("last used"), std::string::npos) << found.steps[1];
  EXPECT_NE(found.steps[1].find(number(late) + " destroys it"), std::string::npos)
      << found.steps[1];
  ASSERT_EQ(found.calls.size(), 3u);
  EXPECT_EQ(found.calls[1].call, submission);
  EXPECT_EQ(found.calls[2].call, destroyed);
}

}  // namespace
}  // namespace zevent::check
