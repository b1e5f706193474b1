#include "replay/polls.hpp"

#include <string>

#include "story.hpp"

namespace zevent::replay {
namespace {

// A recording in a line: who asks what, with which answer. "2A+" is thread 2, event A, SUCCESS;
// "-" is NOT_READY, "!" an error, "*" in front of the answer one that blocked, "1x" another call of
// thread 1, "1A=" a wait for A without a time limit.
class Polls : public trace::story {
 protected:
  static constexpr uint64_t blocks_ns = 5'000'000;

  Polls() {
    const auto owner = pool(0x9000, 3);
    for (uint32_t i = 0; i < 3; ++i) events_[i] = event(owner, 0xe000 + i, i);
    first_ = 5;  // driver, context, pool and three events come before
  }

  void make(std::string_view each) {
    app.on_thread(static_cast<uint32_t>(each[0] - '0'));
    if (each[1] == 'x') {
      app.call("zeEventHostSignal", when(), events_[2]);
      return;
    }
    const auto one = events_[static_cast<size_t>(each[1] - 'A')];
    if (each.back() == '=') {
      const uint64_t forever = UINT64_MAX;
      app.call("zeEventHostSynchronize", when(), one, forever);
      return;
    }
    const auto answer = each.back() == '+'   ? ZE_RESULT_SUCCESS
                        : each.back() == '-' ? ZE_RESULT_NOT_READY
                                             : ZE_RESULT_ERROR_DEVICE_LOST;
    const bool blocked = each.find('*') != each.npos;
    const auto time = when(blocked ? blocks_ns : 10);
    if (each.find('s') != each.npos) {
      const uint64_t limit_ns = 2 * blocks_ns;
      app.call(
          "zeEventHostSynchronize", time, answer, [] {}, one, limit_ns);
    } else {
      app.call(
          "zeEventQueryStatus", time, answer, [] {}, one);
    }
    if (blocked)
      for (uint64_t i = 0; i < blocks_ns / 100; ++i) when();
  }

  // What is made of it: for each step its first call, counted from 0, how many it stands for, "…"
  // where it is a loop, and "@" with its turn where that is another call's.
  std::string folded(std::string_view recorded, poll_options options = {}) {
    while (!recorded.empty()) {
      const size_t end = std::min(recorded.find(' '), recorded.size());
      make(recorded.substr(0, end));
      recorded.remove_prefix(std::min(end + 1, recorded.size()));
    }
    const auto trace = trace::packed({&app});
    const auto seen = survey_calls(trace, {}, 1);
    EXPECT_TRUE(seen);
    if (options.named_call) *options.named_call += first_ + 1;
    poll_folder folder(options);
    recorded_calls calls(trace, {});
    for (auto next = calls.next(); next && *next != nullptr; next = calls.next())
      folder.add(**next, seen->book, is_pinned(**next, *seen));
    std::string out;
    for (const auto& each : folder.steps()) {
      if (each.number <= first_) continue;
      out += fmt::format("{}{}", out.empty() ? "" : " ", each.number - first_ - 1);
      if (each.asks != 1) out += fmt::format("x{}", each.asks);
      if (each.until_done) out += "…";
      if (each.turn != each.number) out += fmt::format("@{}", each.turn - first_ - 1);
    }
    return out;
  }

 private:
  std::array<ze_event_handle_t, 3> events_{};
  uint64_t first_ = 0;  // number of the last call before
};

TEST_F(Polls, ARowThatEndsWithSuccessIsOneLoop) {
  EXPECT_EQ(folded("1A- 1A- 1A- 1A+ 1x"), "0x4… 4");
}

TEST_F(Polls, AnAnswerThatCameAtOnceIsALoopToo) {
  EXPECT_EQ(folded("1A+ 1x"), "0… 1");
}

TEST_F(Polls, AnAnswerThatIsRepeatedIsOne) {
  EXPECT_EQ(folded("1A+ 1A+ 1A+ 1x"), "0x3… 3");
}

TEST_F(Polls, AMonitorThatGoesOnAskingForWhatIsDone) {
  EXPECT_EQ(folded("1A- 1B- 1A+ 1B- 1A+ 1B- 1A+ 1B+ 1A+"), "0 1x3 2x4… 7…@3");
}

TEST_F(Polls, AfterAnyOtherCallTheAnswerMayBeAnotherOne) {
  EXPECT_EQ(folded("1A+ 2x 1A+ 1A+ 1x 1A+"), "0… 1 2x2… 4 5…");
}

TEST_F(Polls, AfterNotReadySuccessIsAnotherOne) {
  EXPECT_EQ(folded("1A+ 1A+ 1A- 1A+"), "0x2… 2x2…");
}

TEST_F(Polls, WithoutTheAnswerItIsAskedOnce) {
  EXPECT_EQ(folded("1A- 1A- 1A- 1x 1A- 1A-"), "0x3 3 4x2");
}

TEST_F(Polls, OtherCallsOfTheThreadEndARow) {
  EXPECT_EQ(folded("1A- 1A- 1x 1A+"), "0x2 2 3…");
}

TEST_F(Polls, OtherThreadsDoNot) {
  EXPECT_EQ(folded("1A- 2x 1A- 2x 1A+ 2x"), "0x3… 1 3 5");
}

TEST_F(Polls, AWaitWithoutALimitIsNoAsk) {
  EXPECT_EQ(folded("1A- 1A- 1B= 1A- 1A+"), "0x2 2 3x2…");
}

TEST_F(Polls, AMonitorAsksEachOnceAndThenUntilItIsDone) {
  EXPECT_EQ(folded("1A- 1B- 1A- 1B- 1A- 1B- 1A+ 1B- 1B- 1B+"), "0x3 1x5 6…@2 9…@7");
}

TEST_F(Polls, ALoopBeginsNoEarlierThanItsOwnEventWasAskedFor) {
  // A may have been reset and signalled again by thread 2 while B was asked for.
  EXPECT_EQ(folded("1A+ 1B- 1B- 2x 1B- 1A+ 1B+"), "0… 1x3 3 5… 6…");
}

TEST_F(Polls, SuccessBeginsANewRow) {
  EXPECT_EQ(folded("1A- 1A+ 2x 1A- 1A- 1A+"), "0x2… 2 3x3…");
}

TEST_F(Polls, AnAskThatBlockedIsKept) {
  EXPECT_EQ(folded("1A- 1A- 1A*- 1A- 1A*- 1A- 1A+"), "0x2 2x5…");
}

TEST_F(Polls, ASuccessThatBlockedIsAskedWhereItWas) {
  EXPECT_EQ(folded("1A- 1A- 1A*+"), "0x2 2…");
}

TEST_F(Polls, WhatTheSymptomNamesIsKept) {
  EXPECT_EQ(folded("1A- 1A- 1A- 1A- 1A+", {.named_call = 2}), "0x2 2x3…");
}

TEST_F(Polls, WhatTheSymptomNamesIsKeptWhereItIsTheLast) {
  EXPECT_EQ(folded("1A- 1A- 1A- 1A+", {.named_call = 3}), "0x3 3…");
}

TEST_F(Polls, WhatIsSlowForTheSymptomIsKept) {
  const auto options =
      polls_for(poll_mode::until_done, *model::parse_symptom("zeEventQueryStatus>6ms"));
  EXPECT_EQ(options.blocking_ns, model::blocking_ns) << "no less than otherwise";
  EXPECT_EQ(polls_for(poll_mode::until_done, *model::parse_symptom("17>1us")).blocking_ns, 1000u);
  EXPECT_EQ(polls_for(poll_mode::until_done, *model::parse_symptom("17>1us")).named_call, 17u);
}

TEST_F(Polls, AWaitWithALimitIsAnAskAndMayTakeItsTime) {
  EXPECT_EQ(folded("1As*- 1As*- 1As*- 1As+"), "0x4…");
}

TEST_F(Polls, QueriesAndWaitsAreDifferentAsks) {
  EXPECT_EQ(folded("1A- 1As- 1A- 1As+"), "0x2 1x2…");
}

TEST_F(Polls, AnErrorIsNoAnswer) {
  EXPECT_EQ(folded("1A- 1A- 1A! 1A-"), "0x2 2 3");
}

TEST_F(Polls, ExactKeepsEveryAsk) {
  EXPECT_EQ(folded("1A- 1A- 1A+ 1x", {.mode = poll_mode::exact}), "0 1 2 3");
}

TEST_F(Polls, TurnsAreTakenWhereLoopsBegin) {
  std::vector<replay_step> steps(3);
  steps[0].turn = 4;
  steps[1].turn = 9;
  steps[2].turn = 7;
  EXPECT_EQ(turn_order(steps), (std::vector<uint32_t>{0, 2, 1}));
}

}  // namespace
}  // namespace zevent::replay
