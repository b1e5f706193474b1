#include "repro/verdict.hpp"

#include <gtest/gtest.h>

namespace zevent::repro {
namespace {

using end = observed_run::end;
using kind = verdict::kind;

const model::symptom slow = model::slow_call{{52, ""}, 100'000};
const model::symptom crash = model::crash{};

observed_run run_with(std::vector<observed_call> calls) {
  observed_run out;
  for (const auto& each : calls)
    if (each.shows) out.how = end::shown;
  out.calls = std::move(calls);
  return out;
}

observed_run took(uint64_t number, double us) {
  return run_with({{number, "zeEventQueryStatus", 90'100, us, 0, "", us > 100, true}});
}

observed_run ended(end how) {
  return {how, {}};
}

TEST(Verdict, IsTheSameSymptomWhereMostRunsShowIt) {
  const std::vector runs = {took(52, 84'700), took(52, 85'000), took(52, 0.1), took(52, 0.1),
                            took(52, 91'000)};
  const auto reached = judge(slow, runs);
  EXPECT_EQ(reached.what, kind::same_symptom);
  EXPECT_EQ(to_text(reached), "same symptom in 3 of 5 runs");
}

TEST(Verdict, OfAMinorityIsNotTheSameSymptom) {
  const std::vector runs = {took(52, 84'700), took(52, 0.1), took(52, 0.1), took(52, 85'000),
                            took(52, 0.1)};
  const auto reached = judge(slow, runs);
  EXPECT_EQ(reached.what, kind::minority);
  EXPECT_EQ(to_text(reached), "the symptom was shown in 2 of 5 runs");
}

TEST(Verdict, OfHalfTheRunsIsNotTheSameSymptom) {
  const std::vector runs = {took(52, 84'700), took(52, 0.1)};
  EXPECT_EQ(judge(slow, runs).what, kind::minority);
}

// Each run has a slow call, but every time another one: that is noise.
TEST(Verdict, DoesNotAddUpWhatDifferentCallsShowed) {
  std::vector<observed_run> runs;
  for (uint64_t slow_one = 0; slow_one < 5; ++slow_one) {
    observed_run run;
    for (uint64_t call = 0; call < 5; ++call) {
      const bool is_slow = call == slow_one;
      run.calls.push_back({call, "zeEventQueryStatus", 150, is_slow ? 140.0 : 0.1, 0, "", is_slow});
    }
    runs.push_back(run_with(std::move(run.calls)));
  }
  const auto reached = judge(*model::parse_symptom("zeEventQueryStatus>100us"), runs);
  EXPECT_EQ(reached.what, kind::minority);
  EXPECT_EQ(reached.shown, 1u);
}

TEST(Verdict, OfRunsThatShowWhatTheRecordingDoesNotIsNotTheSameSymptom) {
  std::vector runs = {took(52, 84'700), took(52, 84'700), took(52, 84'700)};
  for (auto& each : runs) each.calls.front().recorded = false;
  const auto reached = judge(slow, runs);
  EXPECT_EQ(reached.what, kind::not_shown);
  EXPECT_EQ(to_text(reached), "no call of the recording shows the symptom; 3 of 3 runs did");
}

TEST(Verdict, OfACrashIsByHowTheRunsEnded) {
  const std::vector shown = {ended(end::shown), ended(end::shown), ended(end::not_shown)};
  EXPECT_EQ(judge(crash, shown).what, kind::same_symptom);
  const std::vector missed = {ended(end::not_shown), ended(end::not_shown)};
  EXPECT_EQ(judge(crash, missed).what, kind::not_shown);
  EXPECT_EQ(to_text(judge(crash, missed)), "the symptom was not shown in 2 runs");
}

TEST(Verdict, NeedsRunsThatCouldBeRun) {
  const std::vector most = {ended(end::could_not_run), ended(end::could_not_run),
                            ended(end::shown)};
  EXPECT_EQ(judge(crash, most).what, kind::could_not_run);
  const std::vector one = {ended(end::could_not_run), ended(end::shown), ended(end::shown)};
  EXPECT_EQ(judge(crash, one).what, kind::same_symptom);
  EXPECT_EQ(to_text(judge(crash, one)), "same symptom in 2 of 3 runs, 1 could not be run");
  EXPECT_EQ(judge(crash, {}).what, kind::could_not_run);
}

TEST(Verdict, IsDecidedWhenTheRunsThatAreLeftCannotChangeIt) {
  std::vector<observed_run> runs;
  const auto add = [&](end how) {
    runs.push_back(ended(how));
    return is_decided(crash, runs, 5);
  };
  EXPECT_FALSE(add(end::shown));
  EXPECT_FALSE(add(end::not_shown));
  EXPECT_FALSE(add(end::shown));
  EXPECT_FALSE(add(end::not_shown));
  EXPECT_TRUE(add(end::not_shown));
  for (const auto how : {end::shown, end::not_shown, end::could_not_run}) {
    runs.clear();
    EXPECT_FALSE(add(how));
    EXPECT_FALSE(add(how));
    EXPECT_TRUE(add(how)) << static_cast<int>(how);
  }
}

// Whatever the runs that are left would be, the verdict stays.
TEST(Verdict, StaysOnceItIsDecided) {
  constexpr unsigned planned = 5;
  unsigned cases = 0;
  for (unsigned code = 0; code < 243; ++code) {  // 3 to the power of 5
    std::vector<observed_run> runs;
    for (unsigned i = 0, rest = code; i < planned; ++i, rest /= 3)
      runs.push_back(ended(static_cast<end>(rest % 3)));
    const bool verified = judge(crash, runs).what == kind::same_symptom;
    for (size_t made = 1; made < planned; ++made) {
      const auto some = std::span(runs).first(made);
      if (!is_decided(crash, some, planned)) continue;
      EXPECT_EQ(judge(crash, some).what == kind::same_symptom, verified) << code << " " << made;
      ++cases;
    }
  }
  EXPECT_GT(cases, 50u);
}

TEST(Verdict, PrintsTheFiguresOfBothSides) {
  const std::vector runs = {took(52, 84'700), took(52, 85'000), took(52, 84'900)};
  EXPECT_EQ(describe_calls(slow, runs),
            std::vector<std::string>{
                "call 52 zeEventQueryStatus: recorded 90.1 ms; 3 runs: 84.7, 85.0, 84.9 ms"});
}

TEST(Verdict, PrintsTimeWithoutAProcessorThatDoesNotCount) {
  std::vector runs = {took(52, 84'700), took(52, 0.1)};
  runs[0].calls.front().waiting_us = 84'600;
  EXPECT_EQ(
      describe_calls(slow, runs),
      std::vector<std::string>{
          "call 52 zeEventQueryStatus: recorded 90.1 ms; 2 runs: 84.7, 0.0 ms, of which 84.6, "
          "0.0 ms without a processor (not counted)"});
}

TEST(Verdict, OfManyRunsPrintsTheRangeOfTheFigures) {
  std::vector<observed_run> runs;
  for (int i = 40; i > 0; --i) runs.push_back(took(52, 1000.0 * i));
  EXPECT_EQ(describe_calls(slow, runs),
            std::vector<std::string>{"call 52 zeEventQueryStatus: recorded 90.1 ms; 40 runs: min "
                                     "1.0, median 21.0, max 40.0 ms"});
}

TEST(Verdict, ReadsWhatAReproducerPrints) {
  const std::vector<std::string> output = {
      "repro: something else",
      "zeEventQueryStatus (call 52): recorded 90.1 ms, now 84.7 ms, 3.2 us of it without a "
      "processor: shows the symptom",
      "zeEventQueryStatus (call 60): recorded 0.2 us, now 2.00 s",
      "zeEventCreate (call 7): recorded 1.0 us, now 2.0 us, result 0x78000004: shows the symptom",
      "symptom 52>100us: shown"};
  const auto seen = observe(1, output);
  EXPECT_EQ(seen.how, end::shown);
  ASSERT_EQ(seen.calls.size(), 3u);
  EXPECT_EQ(seen.calls[0].number, 52u);
  EXPECT_EQ(seen.calls[0].function, "zeEventQueryStatus");
  EXPECT_DOUBLE_EQ(seen.calls[0].recorded_us, 90'100);
  EXPECT_DOUBLE_EQ(seen.calls[0].us, 84'700);
  EXPECT_DOUBLE_EQ(seen.calls[0].waiting_us, 3.2);
  EXPECT_TRUE(seen.calls[0].shows);
  EXPECT_DOUBLE_EQ(seen.calls[1].us, 2e6);
  EXPECT_DOUBLE_EQ(seen.calls[1].waiting_us, 0);
  EXPECT_FALSE(seen.calls[1].shows);
  EXPECT_EQ(seen.calls[2].outcome, "ERROR_INVALID_ARGUMENT");
  EXPECT_TRUE(seen.calls[2].shows);
}

TEST(Verdict, TakesAnExitStatusOfNeitherZeroNorOneForARunThatCouldNotBeRun) {
  EXPECT_EQ(observe(0, {}).how, end::not_shown);
  EXPECT_EQ(observe(125, {}).how, end::could_not_run);
  EXPECT_EQ(observe(139, {}).how, end::could_not_run);
}

}  // namespace
}  // namespace zevent::repro
