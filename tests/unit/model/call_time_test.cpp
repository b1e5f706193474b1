#include "model/call_time.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace zevent::model {
namespace {

constexpr uint64_t us = 1000;
constexpr uint64_t ms = 1'000'000;
constexpr uint64_t threshold_ns = 100 * us;

trace::call_usage usage(uint64_t processor_ns, uint64_t run_delay_ns, uint32_t sleeps = 0) {
  trace::call_usage note;
  note.processor_ns = processor_ns;
  note.run_delay_ns = run_delay_ns;
  note.voluntary_switches = sleeps;
  note.flags = trace::usage_has_run_delay;
  return note;
}

trace::call_usage others(trace::call_usage note, uint64_t run_delay_ns, uint64_t processor_ns = 0,
                         uint64_t before_ns = 20 * ms) {
  note.flags |= trace::usage_has_others;
  note.other_run_delay_ns = run_delay_ns;
  note.other_processor_ns = processor_ns;
  note.others_before_ns = before_ns;
  note.other_threads = 3;
  return note;
}

trace::call_usage faults(trace::call_usage note, uint32_t minor, uint32_t major = 0) {
  note.minor_faults = minor;
  note.major_faults = major;
  return note;
}

struct time_case {
  const char* story;
  uint64_t duration_ns;
  std::optional<trace::call_usage> note;
  uint64_t allowed_ns;
  uint64_t no_processor_ns, behind_ns, faults_ns, unexplained_ns;
  bool is_stall;
};

const time_case cases[] = {
    {"a recording of old, which does not tell", 28 * ms, {}, 0, 0, 0, 0, 28 * ms, true},
    {"preempted", 28 * ms, usage(5 * us, 27'900 * us), 0, 27'995 * us, 0, 0, 5 * us, false},
    {"preempted, and slept before the call", 28 * ms, usage(5 * us, 27'900 * us, 2), 0, 27'900 * us,
     0, 0, 100 * us, false},
    {"a stall in which it slept", 28 * ms, usage(5 * us, 100 * us, 1), 0, 100 * us, 0, 0,
     27'900 * us, true},
    {"a stall in which it spun", 28 * ms, usage(28 * ms, 0), 0, 0, 0, 0, 28 * ms, true},
    {"a stall on a busy machine", 100 * ms, usage(20 * ms, 50 * ms, 4), 0, 50 * ms, 0, 0, 50 * ms,
     true},
    {"a small rest of a long preemption", 28 * ms, usage(1 * ms, 27 * ms, 1), 0, 27 * ms, 0, 0,
     1 * ms, false},
    {"a small share that is long all the same", 400 * ms, usage(20 * ms, 380 * ms, 1), 0, 380 * ms,
     0, 0, 20 * ms, true},
    {"the kernel tells no run-queue delay, and it never slept", 28 * ms,
     [] {
       auto note = usage(10 * us, 0);
       note.flags = 0;
       return note;
     }(),
     0, 27'990 * us, 0, 0, 10 * us, false},
    {"the kernel tells no run-queue delay, and it slept", 28 * ms,
     [] {
       auto note = usage(10 * us, 0, 1);
       note.flags = 0;
       return note;
     }(),
     0, 0, 0, 0, 28 * ms, true},
    {"behind a lock whose holder had no processor", 12 * ms,
     others(usage(20 * us, 0, 1), 11'950 * us, 15 * ms), 0, 0, 11'950 * us, 0, 50 * us, false},
    {"behind a thread that worked all the while", 800 * ms,
     others(usage(20 * us, 0, 1), 700 * ms, 500 * ms), 0, 0, 0, 0, 800 * ms, true},
    {"behind a thread that worked when it had a processor, one time in thirty", 3000 * ms,
     others(usage(2 * ms, 400 * ms, 60), 2900 * ms, 88 * ms), 0, 400 * ms, 0, 0, 2600 * ms, true},
    {"behind a thread that had no processor for seconds", 3000 * ms,
     others(usage(20 * us, 0, 1), 3000 * ms, 20 * ms), 0, 0, 200 * ms, 0, 2800 * ms, true},
    {"another thread had no processor, but it never slept", 12 * ms,
     others(usage(12 * ms, 0), 12 * ms), 0, 0, 0, 0, 12 * ms, true},
    {"a new page for each microsecond", 300 * us, faults(usage(300 * us, 0), 140), 0, 0, 0,
     280 * us, 20 * us, false},
    {"read from a disk", 6 * ms, faults(usage(50 * us, 0, 1), 0, 1), 0, 0, 0, 5'950 * us, 50 * us,
     false},
    {"a wait that ended when it should", 10 * ms, usage(10 * us, 0, 1), 10 * ms, 0, 0, 0, 0, false},
    {"a wait that woke late, without a processor", 14 * ms, usage(10 * us, 4 * ms, 1), 10 * ms,
     4 * ms, 0, 0, 0, false},
    {"a wait that slept on", 14 * ms, usage(10 * us, 0, 1), 10 * ms, 0, 0, 0, 4 * ms, true},
    {"numbers that cannot be", 1 * ms, usage(UINT64_MAX / 4, UINT64_MAX / 4, 1), 0, 1 * ms, 0, 0, 0,
     false},
};

TEST(call_time, is_explained_by_what_the_thread_did) {
  for (const auto& each : cases) {
    SCOPED_TRACE(each.story);
    const auto time =
        explain_time(each.duration_ns, each.note ? &*each.note : nullptr, each.allowed_ns);
    EXPECT_EQ(time.has_note, each.note.has_value());
    EXPECT_EQ(time.no_processor_ns, each.no_processor_ns);
    EXPECT_EQ(time.behind_ns, each.behind_ns);
    EXPECT_EQ(time.faults_ns, each.faults_ns);
    EXPECT_EQ(time.unexplained_ns(), each.unexplained_ns);
    EXPECT_EQ(is_unexplained(time, threshold_ns), each.is_stall);
  }
}

// The thread was watched before the call too: what was then may have been in the call.
TEST(call_time, counts_what_was_before_the_call_for_the_driver) {
  auto note = usage(400 * us, 600 * us, 1);
  note.before_ns = 900 * us;
  EXPECT_EQ(explain_time(500 * us, &note).unexplained_ns(), 0u);
}

TEST(call_time, is_told_in_words) {
  auto note = usage(5 * us, 27'900 * us, 1);
  EXPECT_EQ(explanation_text(explain_time(28 * ms, &note)),
            "its thread waited 27.9 ms for a processor");
  note = others(usage(0, 2 * ms, 1), 5 * ms);
  EXPECT_EQ(explanation_text(explain_time(7 * ms, &note)),
            "its thread waited 2.0 ms for a processor, and it slept 5.0 ms while another thread of "
            "the process waited for a processor");
  EXPECT_EQ(explanation_text(explain_time(7 * ms, nullptr)), "");
}

class StallJudge : public testing::Test {
 protected:
  static constexpr uint32_t query = 3, append = 5;
  static constexpr uint64_t list = 0x11, kernel = 0x22;

  stall_judge::candidate add(uint32_t function, uint64_t duration_ns, uint64_t of_kernel = 0) {
    return judge.add({function, function == append ? list : 0, of_kernel},
                     explain_time(duration_ns, nullptr));
  }
  void add_quick(uint32_t function, size_t count, uint64_t of_kernel = 0) {
    for (size_t i = 0; i < count; ++i) add(function, 300, of_kernel);
  }

  stall_judge judge{threshold_ns};
};

TEST_F(StallJudge, LetsQuickAndExplainedCallsBe) {
  const auto note = usage(5 * us, 28 * ms, 1);
  const auto quick = add(query, 99 * us);
  const auto preempted = judge.add({query, 0, 0}, explain_time(28 * ms, &note));
  EXPECT_EQ(judge.judge(quick), stall_verdict::quick);
  EXPECT_EQ(judge.judge(preempted), stall_verdict::explained);
}

TEST_F(StallJudge, TakesTheOnlyQueryForAStall) {
  EXPECT_EQ(judge.judge(add(query, 5 * ms)), stall_verdict::stall);
}

TEST_F(StallJudge, LetsTheFirstCallTakeLongerIfLaterOnesAreQuick) {
  const auto first = add(append, 3 * ms);
  add_quick(append, 2);
  EXPECT_EQ(judge.judge(first), stall_verdict::first_use);
  const auto second = add(append, 3 * ms);
  EXPECT_EQ(judge.judge(second), stall_verdict::stall);
  EXPECT_EQ(judge.judge(first), stall_verdict::stall) << "it is always slow";
}

TEST_F(StallJudge, LetsTheFirstLaunchOfEachKernelTakeLonger) {
  add_quick(append, 10, kernel);
  const auto other_kernel = add(append, 3 * ms, kernel + 1);
  EXPECT_EQ(judge.judge(other_kernel), stall_verdict::first_use);
}

TEST_F(StallJudge, DoesNotTakeALongStallForAFirstUse) {
  const auto query_for_long = add(query, 11 * ms);
  add_quick(query, 20);
  EXPECT_EQ(judge.judge(query_for_long), stall_verdict::stall);
  const auto append_for_long = add(append, 101 * ms);
  add_quick(append, 20);
  EXPECT_EQ(judge.judge(append_for_long), stall_verdict::stall);
}

TEST_F(StallJudge, LetsOneInAThousandBeSlowForAShortTime) {
  add_quick(query, 1000);
  const auto one = add(query, 2 * ms);
  const auto long_one = add(query, 20 * ms);
  EXPECT_EQ(judge.judge(one), stall_verdict::stall) << "there are two of them";
  add_quick(query, 1000);
  EXPECT_EQ(judge.judge(one), stall_verdict::rare);
  EXPECT_EQ(judge.judge(long_one), stall_verdict::stall);
}

// The recorder looks after so many slow calls a second.
TEST_F(StallJudge, DoesNotBlameACallOfWhichNothingIsKnownWhereOthersAreExplained) {
  const auto preempted = usage(5 * us, 28 * ms, 1);
  judge.add({query, 0, 0}, explain_time(28 * ms, &preempted));
  const auto unknown = add(query, 3 * ms);
  EXPECT_EQ(judge.judge(unknown), stall_verdict::unnoted);
  EXPECT_EQ(judge.judge(add(query, 30 * ms)), stall_verdict::stall);
  const auto stalled = usage(5 * us, 0, 1);
  judge.add({query, 0, 0}, explain_time(28 * ms, &stalled));
  EXPECT_EQ(judge.judge(unknown), stall_verdict::stall);
}

TEST_F(StallJudge, FindsAFunctionThatIsAlwaysSlow) {
  std::vector<stall_judge::candidate> all;
  for (int i = 0; i < 2000; ++i) all.push_back(add(query, 200 * us));
  EXPECT_EQ(judge.judge(all.front()), stall_verdict::stall);
  EXPECT_EQ(judge.judge(all.back()), stall_verdict::stall);
}

// Some in a thousand are slow, but not much slower than those that are usual.
TEST_F(StallJudge, WantsAStallToStandOut) {
  for (int i = 0; i < 2000; ++i) add(query, 90 * us);
  std::vector<stall_judge::candidate> slow;
  for (int i = 0; i < 10; ++i) slow.push_back(add(query, 200 * us));
  EXPECT_EQ(judge.judge(slow.back()), stall_verdict::rare);
}

}  // namespace
}  // namespace zevent::model
