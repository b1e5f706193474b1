#include "replay/turns.hpp"

#include <gtest/gtest.h>

namespace zevent::replay {
namespace {

constexpr uint64_t event = 7, other_event = 8;

timed_call wait_for(uint64_t what, uint32_t thread, uint64_t start_ns, uint64_t end_ns) {
  return {start_ns, end_ns, thread, true, {.learns = what}};
}
timed_call reset(uint64_t what, uint32_t thread, uint64_t start_ns) {
  return {start_ns, start_ns + 1, thread, false, {.takes_away = what}};
}
timed_call signal(uint64_t what, uint32_t thread, uint64_t start_ns) {
  return {start_ns, start_ns + 1, thread, false, {.signals = what}};
}

std::vector<uint32_t> waited_for(const call_turns& turns, uint32_t call) {
  const auto found = turns.waits_for.find(call);
  return found == turns.waits_for.end() ? std::vector<uint32_t>{} : found->second;
}

TEST(Turns, AResetWaitsForTheThreadThatWasToldOfTheSignal) {
  const std::vector calls = {wait_for(event, 1, 0, 100), signal(event, 2, 10), reset(event, 2, 50)};
  const auto turns = order_calls(calls, false);
  EXPECT_TRUE(turns.lets_next_go[0]);
  EXPECT_EQ(waited_for(turns, 2), std::vector<uint32_t>{0});
}

TEST(Turns, AResetBeforeTheSignalDoesNot) {
  for (const uint64_t signalled : {event, state_use::any}) {
    const std::vector calls = {wait_for(event, 1, 0, 100), reset(event, 2, 10),
                               signal(signalled, 2, 50)};
    EXPECT_TRUE(waited_for(order_calls(calls, false), 1).empty()) << "it would wait for ever";
  }
}

TEST(Turns, AResetOfAnotherEventDoesNot) {
  const std::vector calls = {wait_for(event, 1, 0, 100), reset(other_event, 2, 50)};
  EXPECT_TRUE(waited_for(order_calls(calls, false), 1).empty());
}

TEST(Turns, AWaitThatDidNotReturnHoldsNothingUp) {
  const std::vector calls = {wait_for(event, 1, 0, UINT64_MAX), reset(event, 2, 50)};
  EXPECT_TRUE(waited_for(order_calls(calls, false), 1).empty());
}

TEST(Turns, WhatCameAfterAWaitComesAfterIt) {
  const std::vector calls = {wait_for(event, 1, 0, 100), signal(event, 2, 10),
                             reset(event, 2, 150)};
  EXPECT_EQ(waited_for(order_calls(calls, false), 2), std::vector<uint32_t>{0});
}

}  // namespace
}  // namespace zevent::replay
