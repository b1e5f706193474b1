#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <utility>

#include "check/checker.hpp"
#include "hand_made_program.hpp"

namespace zevent::check {
namespace {

constexpr uint64_t us = 1000;
constexpr uint64_t ms = 1'000'000;

// A program with a copy under way, of whose slow calls it is known what their threads did.
class slow_calls : public testing::Test {
 protected:
  // Of the next call: its thread had no processor for so long, and slept for the rest.
  void next_waits_for_processor(uint64_t run_delay_ns, uint64_t number) {
    trace::call_usage note;
    note.call = call_number{number};
    note.run_delay_ns = run_delay_ns;
    note.voluntary_switches = 1;
    note.flags = trace::usage_has_run_delay;
    notes[note.call] = note;
  }

  uint64_t query(uint64_t took_ns) {
    return trace::number_of(program.takes_ns(took_ns).returns(ZE_RESULT_NOT_READY).query(event));
  }
  void quick_queries(int count) {
    for (int i = 0; i < count; ++i) {
      query(300);
      // Another call, so that this is no busy loop.
      program.host_reset(program.event(pool, 1));
    }
  }

  // Severity, rule and message of each finding about time.
  std::string found() {
    std::string text;
    for (const auto& each : judge.finish({}, {}, {})) {
      if (each.rule != ev(70) && each.rule != ev(71)) continue;
      text += fmt::format("{} {} #{}: {}\n", to_text(each.level), to_text(each.rule),
                          trace::number_of(each.call), each.message);
    }
    return text;
  }

  // The first finding about a call that blocked.
  std::optional<finding> first_block() {
    for (auto& each : judge.finish({}, {}, {}))
      if (each.rule == ev(70)) return std::move(each);
    return std::nullopt;
  }

  std::map<call_number, trace::call_usage> notes;
  checker judge{{}, {}, {}, [this](call_number call) -> const trace::call_usage* {
                  const auto note = notes.find(call);
                  return note == notes.end() ? nullptr : &note->second;
                }};
  model::hand_made_program<checker> program{judge};
  uint64_t device = program.device();
  uint64_t context = program.context();
  uint64_t pool = program.pool(context);
  uint64_t event = program.event(pool);
  uint64_t list = program.immediate_list(context, device);
  uint64_t copy = trace::number_of(program.copy(list, program.memory(context, device, 4096),
                                                program.memory(context, device, 4096), 4096,
                                                {.signal = event}));
};

TEST_F(slow_calls, whose_thread_had_no_processor_are_notes) {
  const uint64_t next = query(300) + 1;
  next_waits_for_processor(28 * ms, next);
  query(28'100 * us);
  EXPECT_EQ(found(), fmt::format("note EV-70 #{}: zeEventQueryStatus took 28.1 ms, of which its "
                                 "thread waited 28.0 ms for a processor.\n",
                                 next));
}

TEST_F(slow_calls, that_are_notes_do_not_send_anybody_to_the_makers_of_the_driver) {
  next_waits_for_processor(28 * ms, query(300) + 1);
  query(28'100 * us);
  const auto slow = first_block();
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->advice, "Nothing: as far as is known this is not the driver's fault.");
}

TEST_F(slow_calls, that_only_the_driver_explains_are_findings_on_a_busy_machine_too) {
  const uint64_t next = query(300) + 1;
  next_waits_for_processor(28 * ms, next);
  query(100 * ms);
  EXPECT_EQ(found(),
            fmt::format("performance EV-70 #{}: zeEventQueryStatus took 100.0 ms, of which its "
                        "thread waited 28.0 ms for a processor; 72.0 ms are left, more than 100.0 "
                        "us.\n",
                        next));
}

TEST_F(slow_calls, that_are_the_first_of_their_kind_are_notes) {
  const uint64_t first = query(2 * ms);
  quick_queries(2);
  EXPECT_EQ(found(), fmt::format("note EV-70 #{}: zeEventQueryStatus took 2.0 ms, the first time; "
                                 "later calls were quick.\n",
                                 first));
}

TEST_F(slow_calls, that_are_one_in_a_thousand_are_notes) {
  quick_queries(1000);
  const uint64_t slow = query(2 * ms);
  quick_queries(1000);
  EXPECT_EQ(found(),
            fmt::format("note EV-70 #{}: zeEventQueryStatus took 2.0 ms, as fewer than one "
                        "in a thousand of its calls did.\n",
                        slow));
}

TEST_F(slow_calls, of_an_incomplete_recording_are_judged_too) {
  const uint64_t slow = query(50 * ms);
  size_t findings = 0;
  for (const auto& each : judge.finish({0}, {}, {}))
    findings += each.rule == ev(70) && trace::number_of(each.call) == slow;
  EXPECT_EQ(findings, 1u);
}

TEST_F(slow_calls, whose_note_is_missing_say_so) {
  query(50 * ms);
  const auto slow = first_block();
  ASSERT_TRUE(slow && !slow->steps.empty());
  EXPECT_EQ(slow->steps.back(), "What its thread did meanwhile was not recorded.");
}

TEST_F(slow_calls, are_waits_that_overran_without_an_explanation) {
  const auto wait = [&](uint64_t took_ns, uint64_t timeout_ns) {
    return trace::number_of(
        program.takes_ns(took_ns).returns(ZE_RESULT_NOT_READY).synchronise(event, timeout_ns));
  };
  const uint64_t late = wait(60 * ms, 10 * ms);
  next_waits_for_processor(6 * ms, late + 1);
  wait(16 * ms, 10 * ms);        // its thread had no processor
  wait(11 * ms, 10 * ms);        // no more than is tolerated
  wait(1'040 * ms, 1'000 * ms);  // in proportion
  EXPECT_EQ(found(),
            fmt::format("performance EV-71 #{}: The wait was to end after 10.0 ms and took 60.0 "
                        "ms.\n"
                        "note EV-71 #{}: The wait was to end after 10.0 ms and took 16.0 ms, of "
                        "which its thread waited 6.0 ms for a processor.\n",
                        late, late + 1));
}

// A timeout of a nanosecond is a way to poll.
TEST_F(slow_calls, are_no_findings_where_one_of_a_thousand_tiny_waits_is_late) {
  uint64_t slow = 0;
  for (int i = 0; i < 1500; ++i) {
    const auto made = program.takes_ns(i == 700 ? 3 * ms : 400)
                          .returns(ZE_RESULT_NOT_READY)
                          .synchronise(event, 1);
    if (i == 700) slow = trace::number_of(made);
  }
  EXPECT_EQ(found(),
            fmt::format("note EV-71 #{}: The wait was to end after 1 ns and took 3.0 ms.\n", slow));
}

}  // namespace
}  // namespace zevent::check
