#include <cstring>

#include "replay/hang_report.hpp"
#include "replay/needs.hpp"
#include "replay/program.hpp"
#include "replay/replay_report.hpp"
#include "replayed.hpp"
#include "story.hpp"

namespace zevent::replay {
namespace {

using trace::fake_handle;
using trace::packed;

using Replay = trace::story;

constexpr uint64_t patience_ns = 60'000'000'000;

TEST_F(Replay, PassesEveryFieldAndTheWholeChain) {
  const ze_event_pool_counter_based_exp_desc_t next{
      ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC, nullptr, 3};
  pool(0x9000, 7, &next);
  const auto done = replay_trace(packed({&app}));
  ASSERT_EQ(done.told.size(), 2u);
  EXPECT_EQ(done.told[1], fmt::format("pool0 in context0 count 7 flags 1 next {:#x} flags 3",
                                      static_cast<uint32_t>(next.stype)));
  EXPECT_TRUE(done.compared.same());
}

TEST_F(Replay, TellsApartObjectsThatHadTheSameHandle) {
  const auto owner = pool(0x9000, 2);
  const auto first = event(owner, 0xe000, 0);
  app.call("zeEventDestroy", when(), first);
  const auto second = event(owner, 0xe000, 1);
  app.call(
      "zeEventQueryStatus", when(), ZE_RESULT_NOT_READY, [] {}, second);
  const auto done = replay_trace(packed({&app}));
  EXPECT_EQ(done.told[3], "destroy event0");
  EXPECT_EQ(done.told[5], "query event1");
}

class ReplayOfPolls : public Replay {
 protected:
  void ask(ze_event_handle_t event, ze_result_t answer) {
    app.call(
        "zeEventQueryStatus", when(), answer, [] {}, event);
  }
  static size_t asked(const replayed& done) {
    return static_cast<size_t>(std::count(done.told.begin(), done.told.end(), "query event0"));
  }
  // The driver says SUCCESS to its n-th query.
  static run_options done_after(int asks) {
    run_options running;
    running.environment.emplace_back("ZEVENT_TEST_DONE_AFTER_ASKS", std::to_string(asks));
    return running;
  }
};

TEST_F(ReplayOfPolls, AsksAsOftenAsRecordedWhereThatIsWanted) {
  const auto one = event(pool(0x9000, 1), 0xe000);
  for (int i = 0; i < 5; ++i) ask(one, ZE_RESULT_NOT_READY);
  ask(one, ZE_RESULT_SUCCESS);
  const auto done = replay_trace(packed({&app}), {.polls = {.mode = poll_mode::exact}});
  EXPECT_EQ(asked(done), 6u);
  EXPECT_TRUE(done.compared.same()) << "a poll that finds the device later is no other result";
  ASSERT_EQ(done.compared.polls.size(), 1u);
  EXPECT_EQ(describe(done.what, done.compared.polls[0]),
            "call 9 zeEventQueryStatus: SUCCESS in the recording; in the replay NOT_READY");
}

TEST_F(ReplayOfPolls, AsksUntilTheRecordedAnswerComes) {
  const auto one = event(pool(0x9000, 1), 0xe000);
  for (int i = 0; i < 5; ++i) ask(one, ZE_RESULT_NOT_READY);
  ask(one, ZE_RESULT_SUCCESS);
  app.call("zeEventDestroy", when(), one);
  for (const int asks : {1, 2, 6, 90}) {
    const auto done = replay_trace(packed({&app}), {}, done_after(asks));
    EXPECT_EQ(asked(done), static_cast<size_t>(asks));
    EXPECT_EQ(done.told.back(), "destroy event0");
    EXPECT_TRUE(done.compared.same());
    EXPECT_EQ(done.compared.polls.size(), asks == 1 ? 1u : 0u) << "NOT_READY was the first answer";
    const auto lines = judge(done.what, done.outcome, {}).lines;
    const auto words = fmt::format("polls asked {} times, 6 in the recording", asks);
    EXPECT_EQ(std::count(lines.begin(), lines.end(), words), asks == 6 ? 0 : 1);
  }
}

TEST_F(ReplayOfPolls, AsksOnceWhereTheProgramWentOnWithoutTheAnswer) {
  const auto one = event(pool(0x9000, 1), 0xe000);
  for (int i = 0; i < 5; ++i) ask(one, ZE_RESULT_NOT_READY);
  app.call("zeEventDestroy", when(), one);
  const auto done = replay_trace(packed({&app}), {}, done_after(3));
  EXPECT_EQ(asked(done), 1u);
  EXPECT_TRUE(done.compared.same());
}

TEST_F(ReplayOfPolls, ALoopLetsTheThreadGoThatBringsItsEnd) {
  const auto one = event(pool(0x9000, 1), 0xe000);
  ask(one, ZE_RESULT_NOT_READY);
  app.on_thread(2, "signaller");
  event(pool(0x9100, 1), 0xe100);
  app.call("zeEventHostSignal", when(), one);
  app.on_thread(1);
  ask(one, ZE_RESULT_SUCCESS);
  app.on_thread(2);
  app.call("zeEventDestroy", when(), one);
  const auto done = replay_trace(packed({&app}));
  EXPECT_EQ(done.outcome.ending, run_ending::finished);
  EXPECT_TRUE(done.compared.same());
  EXPECT_EQ(done.told.back(), "destroy event0") << "it came after the answer";
}

// A device that is later: the answer came at once in the recording.
TEST_F(ReplayOfPolls, WhatCameAfterAnAnswerWaitsForItInOtherThreadsToo) {
  const auto owner = pool(0x9000, 2);
  const auto one = event(owner, 0xe000), other = event(owner, 0xe100, 1);
  ask(one, ZE_RESULT_NOT_READY);
  app.on_thread(2, "other");
  app.call("zeEventHostSignal", when(), other);
  app.on_thread(1);
  ask(one, ZE_RESULT_SUCCESS);
  app.on_thread(2);
  app.call("zeEventDestroy", when(), other);
  const auto done = replay_trace(packed({&app}), {}, done_after(500));
  EXPECT_EQ(asked(done), 500u);
  EXPECT_EQ(done.told.back(), "destroy event1");
}

TEST_F(ReplayOfPolls, AnAnswerThatNeverComesHangsAndIsExplained) {
  const auto one = event(pool(0x9000, 1), 0xe000);
  ask(one, ZE_RESULT_SUCCESS);
  app.call("zeEventHostSignal", when(), one);
  const auto trace = packed({&app});
  run_options running;
  running.timeout_ns = 50'000'000;
  const auto done = replay_trace(trace, {}, running);
  EXPECT_EQ(done.outcome.ending, run_ending::hung);
  EXPECT_FALSE(done.compared.same());
  const auto lines = explain_hang(trace, {&done.what, 1}, {&done.outcome, 1});
  ASSERT_TRUE(lines);
  ASSERT_EQ(lines->size(), 2u);
  EXPECT_NE((*lines)[0].find("in the recording it was answered SUCCESS after 10 ns"),
            std::string::npos)
      << (*lines)[0];
  EXPECT_NE((*lines)[1].find("call 5 zeEventHostSignal (not made yet)"), std::string::npos);
}

TEST_F(Replay, MapsPointersIntoAllocations) {
  const auto where = list();
  memory(0x7f0000001000, 64);
  memory(0x7f0000002000, 64);
  copy(where, 0x7f0000001008, 0x7f0000002020, 4);
  const auto done = replay_trace(packed({&app}));
  ASSERT_EQ(done.told.size(), 4u);
  EXPECT_EQ(done.told[3].substr(0, 36), "list0: copy memory1+32 to memory0+8 ");
}

TEST_F(Replay, MapsPointersInsideKernelArguments) {
  memory(0x7f0000001000, 64);
  const auto kernel = fake_handle<ze_kernel_handle_t>(0);
  const struct {
    uint64_t number = 5;
    uint64_t pointer = 0x7f0000001010;
    uint64_t past_the_end = 0x7f0000001040;
  } by_value;
  const auto* value = reinterpret_cast<const void*>(&by_value);
  const uint32_t index = 2;
  const size_t bytes = sizeof(by_value);
  app.call("zeKernelSetArgumentValue", when(), kernel, index, bytes, value);
  const auto done = replay_trace(packed({&app}));
  EXPECT_EQ(done.told[2], fmt::format("argument 2 of 24 bytes: 5 memory0+16 {}", 0x7f0000001040));
}

TEST_F(Replay, RestoresPlainHostMemoryBeforeTheCallThatReadsIt) {
  const auto where = list();
  memory(0x7f0000001000, 64);
  held(copy(where, 0x7f0000001000, 0x5500000100, 5), 0x5500000100, "first");
  held(copy(where, 0x7f0000001000, 0x5500000100, 6), 0x5500000100, "second");
  const auto done = replay_trace(packed({&app}));
  EXPECT_EQ(done.told[2], "list0: copy host to memory0+0 'first' signals null");
  EXPECT_EQ(done.told[3], "list0: copy host to memory0+0 'second' signals null");
}

TEST_F(Replay, RestoresAllocationsAndThePointersInThem) {
  const auto where = list();
  memory(0x7f0000001000, 64);
  memory(0x7f0000002000, 64);
  const uint64_t pointer = 0x7f0000002008;
  std::string content(8, '\0');
  std::memcpy(content.data(), &pointer, sizeof(pointer));
  held(copy(where, 0x7f0000002000, 0x7f0000001010, 8), 0x7f0000001010, content);
  const auto done = replay_trace(packed({&app}));
  EXPECT_TRUE(done.compared.same());
  const auto quote = done.told.back().find('\'');
  ASSERT_NE(quote, std::string::npos);
  EXPECT_NE(done.told.back().substr(quote + 1, 8), content) << "the address of the recording";
}

TEST_F(Replay, PassesWaitAndSignalEvents) {
  const auto where = list();
  memory(0x7f0000001000, 64);
  const auto owner = pool(0x9000, 3);
  const auto a = event(owner, 0xe000, 0), b = event(owner, 0xe100, 1), c = event(owner, 0xe200, 2);
  copy(where, 0x7f0000001000, 0x7f0000001008, 0, c, {b, a});
  const auto done = replay_trace(packed({&app}));
  EXPECT_EQ(done.told.back(),
            "list0: copy memory0+8 to memory0+0 '' signals event2 waits for event1"
            " waits for event0");
}

TEST_F(Replay, MapsIpcHandlesOfItsOwn) {
  memory(0x7f0000001000, 64);
  const auto owner = context();
  const auto* pointer = reinterpret_cast<const void*>(uint64_t{0x7f0000001000});
  ze_ipc_mem_handle_t handle{};
  auto* out = &handle;
  app.call(
      "zeMemGetIpcHandle", when(), ZE_RESULT_SUCCESS,
      [&] { std::memcpy(handle.data, "recorded", 9); }, owner, pointer, out);
  ze_device_handle_t const device = nullptr;
  const ze_ipc_memory_flags_t flags = 0;
  void* opened = nullptr;
  auto* opened_out = &opened;
  app.call(
      "zeMemOpenIpcHandle", when(), ZE_RESULT_SUCCESS,
      [&] { opened = reinterpret_cast<void*>(uint64_t{0x7f0000009000}); }, owner, device, handle,
      flags, opened_out);
  const auto done = replay_trace(packed({&app}));
  EXPECT_EQ(done.told.back(), "opened memory0+0");
}

TEST_F(Replay, LetsAWaitingThreadWaitForTheOther) {
  const auto one = event(pool(0x9000, 1), 0xe000);
  const uint64_t forever = UINT64_MAX;
  app.call("zeEventHostSynchronize", when(1000), one, forever);
  app.on_thread(2, "signaller");
  app.call("zeEventHostSignal", when(), one);
  app.on_thread(1);
  for (int i = 0; i < 20; ++i) when();
  app.call("zeEventDestroy", when(), one);
  const auto done = replay_trace(packed({&app}));
  EXPECT_EQ(done.what.threads.size(), 2u);
  EXPECT_EQ(done.outcome.ending, run_ending::finished);
  ASSERT_EQ(done.told.size(), 6u);
  EXPECT_EQ(done.told[3], "signal event0");
  EXPECT_EQ(done.told[5], "destroy event0");
  EXPECT_TRUE(done.compared.same());
}

TEST_F(Replay, LetsAQueryThatBlockedWaitForTheOtherThread) {
  const auto one = event(pool(0x9000, 1), 0xe000);
  app.call("zeEventQueryStatus", when(1'000'000), one);
  app.on_thread(2, "signaller");
  app.call("zeEventHostSignal", when(), one);
  run_options running;
  running.environment.emplace_back("ZEVENT_TEST_QUERY_BLOCKS", "1");
  running.timeout_ns = 2'000'000'000;
  const auto done = replay_trace(packed({&app}), {}, running);
  EXPECT_EQ(done.outcome.ending, run_ending::finished);
  EXPECT_TRUE(done.compared.same());
}

TEST_F(Replay, TakesTurnsInTheRecordedOrder) {
  const auto owner = pool(0x9000, 64);
  const auto one = event(owner, 0xe000);
  for (uint32_t i = 0; i < 60; ++i) {
    app.on_thread(1 + i % 3);
    event(owner, 0xf000 + i, i % 7 == 0 ? 20 : i % 3);
    app.call(
        "zeEventQueryStatus", when(), ZE_RESULT_NOT_READY, [] {}, one);
  }
  for (const bool free_threads : {false, true}) {
    const auto done = replay_trace(packed({&app}), {.free_threads = free_threads});
    EXPECT_EQ(done.what.threads.size(), 3u);
    ASSERT_EQ(done.told.size(), 3 + 120u);
    for (uint32_t i = 0; i < 60; ++i)
      EXPECT_EQ(done.told[3 + 2 * i],
                fmt::format("event{} in pool0 index {}", i + 1, i % 7 == 0 ? 20 : i % 3));
  }
}

TEST_F(Replay, SaysInWhichCallItHangsAndWhatWouldHaveHadToHappen) {
  const auto one = event(pool(0x9000, 1), 0xe000);
  const uint64_t forever = UINT64_MAX;
  app.call("zeEventHostSynchronize", when(), one, forever);
  app.call("zeEventHostSignal", when(), one);
  const auto trace = packed({&app});
  run_options running;
  running.timeout_ns = 50'000'000;
  const auto done = replay_trace(trace, {}, running);
  EXPECT_EQ(done.outcome.ending, run_ending::hung);
  EXPECT_EQ(done.compared.not_made, 1u);
  const auto lines = explain_hang(trace, {&done.what, 1}, {&done.outcome, 1});
  ASSERT_TRUE(lines);
  ASSERT_EQ(lines->size(), 2u);
  EXPECT_EQ((*lines)[0],
            "thread 1 (main) is stuck in call 4 zeEventHostSynchronize(hEvent=event_0, "
            "timeout=UINT64_MAX) (10 ns in the recording)");
  EXPECT_EQ((*lines)[1],
            "  event_0 is signalled by call 5 "
            "zeEventHostSignal (not made yet)");
}

TEST_F(Replay, IsTheSameWhereItHangsInTheCallThatHungInTheRecording) {
  const auto one = event(pool(0x9000, 1), 0xe000);
  const uint64_t forever = UINT64_MAX;
  app.hang("zeEventHostSynchronize", when().start_ns, one, forever);
  run_options running;
  running.timeout_ns = 50'000'000;
  const auto done = replay_trace(packed({&app}), {}, running);
  EXPECT_EQ(done.outcome.ending, run_ending::hung);
  EXPECT_TRUE(judge(done.what, done.outcome, {}).same);
}

TEST_F(Replay, SaysInWhichCallTheDriverCrashes) {
  const auto owner = context();
  ze_device_handle_t const device = nullptr;
  app.hang("zeContextSystemBarrier", when().start_ns, owner, device);
  const auto done = replay_trace(packed({&app}));
  EXPECT_EQ(done.outcome.ending, run_ending::crashed);
  EXPECT_EQ(done.outcome.signal, SIGABRT);
  EXPECT_EQ(done.outcome.under_way(), std::vector<uint32_t>{2});
}

TEST_F(Replay, SaysWhyNoMemoryWasCompared) {
  const auto one = event(pool(0x9000, 1), 0xe000);
  memory(0x7f0000001000, 64);
  const report_options comparing{.symptom = {}, .compare_memory = true};
  const auto verdict = [&] {
    run_options running;
    running.play.compare_memory = true;
    const auto done = replay_trace(packed({&app}), {.polls = {.mode = poll_mode::exact}}, running);
    return judge(done.what, done.outcome, comparing);
  };
  app.file.header().memory = recording::memory_mode::full;
  EXPECT_EQ(verdict().lines.back(),
            "no memory was compared: the recording has no contents of allocations after waits; "
            "'zevent record --memory=results' keeps them");
  app.file.header().memory = recording::memory_mode::results;
  EXPECT_EQ(verdict().lines.back(), "no memory was compared: no command writes to an allocation");
  EXPECT_EQ(exit_status(verdict(), comparing), 0);
  copy(list(), 0x7f0000001000, 0x5500000100, 5);
  const auto is_unknown = [&](std::string_view why, std::string_view of_memory) {
    const auto found = verdict();
    EXPECT_EQ(*(found.lines.end() - 2), fmt::format("no memory was compared: {}", why));
    EXPECT_EQ(found.lines.back(), fmt::format("not compared: memory_0 ({})", of_memory));
    EXPECT_TRUE(found.same);
    EXPECT_EQ(exit_status(found, comparing), 125);
  };
  constexpr std::string_view nothing = "the recording has no contents of it after a wait";
  is_unknown("whenever the program had waited, nothing had changed in allocations", nothing);
  // Snapshots are for a checker.
  held(app.call("zeEventQueryStatus", when(), one), 0x7f0000001000, "seen by the way",
       recording::memory_is_snapshot | recording::memory_is_after_call);
  is_unknown("whenever the program had waited, nothing had changed in allocations", nothing);
}

TEST_F(Replay, SaysThatTheWaitsHadOtherResultsWhereNoMemoryWasCompared) {
  const auto one = event(pool(0x9000, 1), 0xe000);
  memory(0x7f0000001000, 64);
  app.file.header().memory = recording::memory_mode::results;
  // The driver here says NOT_READY.
  const auto query = app.call("zeEventQueryStatus", when(), one);
  held(query, 0x7f0000001000, "found by the host",
       recording::memory_is_dirty_pages | recording::memory_is_after_call |
           recording::memory_may_be_devices);
  run_options running;
  running.play.compare_memory = true;
  const auto done = replay_trace(packed({&app}), {.polls = {.mode = poll_mode::exact}}, running);
  EXPECT_EQ(judge(done.what, done.outcome, {.symptom = {}, .compare_memory = true}).lines.back(),
            "no memory was compared: no wait after which the recording has contents of "
            "allocations had the recorded result");
}

TEST_F(Replay, DiffersWhereItHangsInTheCallInWhichTheRecordingCrashed) {
  const auto one = event(pool(0x9000, 1), 0xe000);
  const uint64_t forever = UINT64_MAX;
  app.hang("zeEventHostSynchronize", when().start_ns, one, forever);
  app.file.header().end = {recording::end_kind::by_signal, SIGSEGV, 0};
  const auto trace = packed({&app});
  run_options running;
  running.timeout_ns = 50'000'000;
  const auto done = replay_trace(trace, {}, running);
  EXPECT_EQ(done.outcome.ending, run_ending::hung);
  const auto verdict = judge(done.what, done.outcome, {});
  EXPECT_FALSE(verdict.same);
  ASSERT_EQ(verdict.lines.size(), 3u);
  EXPECT_EQ(verdict.lines[0], "5 of 5 calls made on 1 thread, 4 with the recorded result");
  EXPECT_EQ(verdict.lines[2],
            "  call 4 zeEventHostSynchronize: the program was ended by SIGSEGV before it returned "
            "in the recording; in the replay it hangs");
  const auto why = explain_hang(trace, {&done.what, 1}, {&done.outcome, 1});
  ASSERT_TRUE(why);
  EXPECT_NE(why->front().find("(in the recording, the program was ended by SIGSEGV before it"),
            std::string::npos)
      << why->front();
}

TEST_F(Replay, IsTheSameWhereItCrashesByTheRecordedSignal) {
  const auto owner = context();
  ze_device_handle_t const device = nullptr;
  app.hang("zeContextSystemBarrier", when().start_ns, owner, device);
  const auto is_same = [&](recording::end_kind kind, int status) {
    app.file.header().end = {kind, static_cast<uint32_t>(status), 0};
    const auto done = replay_trace(packed({&app}));
    EXPECT_EQ(done.outcome.signal, SIGABRT);
    return judge(done.what, done.outcome, {}).same;
  };
  EXPECT_TRUE(is_same(recording::end_kind::by_signal, SIGABRT));
  EXPECT_FALSE(is_same(recording::end_kind::by_signal, SIGSEGV));
  EXPECT_FALSE(is_same(recording::end_kind::by_signal, SIGTERM)) << "somebody had ended a hang";
  EXPECT_FALSE(is_same(recording::end_kind::exited, 0)) << "a thread was left in the call";
  EXPECT_TRUE(is_same(recording::end_kind::unknown, 0));
}

// Another process, whose calls come between those of the first.
class ReplayOfTwo : public Replay {
 protected:
  ReplayOfTwo() {
    other.file.header().process_id = 200;
    other.file.header().open_ticks = 5;
  }
  std::vector<run_outcome> replay_both(run_options running = {}) {
    const auto trace = packed({&app, &other});
    const std::vector<uint32_t> processes{0, 1};
    const auto programs = compile_together(trace, processes, {});
    EXPECT_TRUE(programs) << programs.error().message;
    const temporary_folder folder("zevent-replay");
    const std::string log = (folder.path() / "log").string();
    running.driver = TELLING_DRIVER;
    running.environment.emplace_back("ZEVENT_TEST_LOG", log);
    auto outcomes = run_together(*programs, std::vector{running, running});
    EXPECT_TRUE(outcomes) << outcomes.error().message;
    told = lines_of(log);
    return std::move(*outcomes);
  }

  trace::fake_program other;
  std::vector<std::string> told;
};

TEST_F(ReplayOfTwo, CallsAreMadeInTheOrderOfTheRecording) {
  const uint32_t no_flags = 0;
  const auto one = event(pool(0x9000, 1), 0xe000);
  other.call("zeInit", when(), no_flags);
  app.call("zeEventHostSignal", when(), one);
  other.call("zeInit", when(), no_flags);
  app.call("zeEventDestroy", when(), one);
  const auto outcomes = replay_both();
  for (const auto& each : outcomes) EXPECT_EQ(each.ending, run_ending::finished);
  ASSERT_GE(told.size(), 4u);
  const std::vector<std::string> last(told.end() - 4, told.end());
  EXPECT_EQ(last,
            (std::vector<std::string>{"init 0", "signal event0", "init 0", "destroy event0"}));
}

TEST_F(ReplayOfTwo, WhenOneCrashesTheOtherIsStopped) {
  const uint32_t no_flags = 0;
  const auto owner = context();
  ze_device_handle_t const device = nullptr;
  app.hang("zeContextSystemBarrier", when().start_ns, owner, device);
  other.call("zeInit", when(), no_flags);
  other.call("zeInit", when(), no_flags);
  const auto outcomes = replay_both();
  EXPECT_EQ(outcomes[0].ending, run_ending::crashed);
  EXPECT_EQ(outcomes[0].signal, SIGABRT);
  EXPECT_EQ(outcomes[1].signal, 0);
}

TEST_F(ReplayOfTwo, WhenTheDriverEndsOneTheOtherIsStopped) {
  const uint32_t no_flags = 0;
  const auto owner = context();
  ze_device_handle_t const device = nullptr;
  app.call("zeContextSystemBarrier", when(), owner, device);
  other.call("zeInit", when(), no_flags);
  run_options running;
  running.environment.emplace_back("ZEVENT_TEST_BARRIER_EXITS", "1");
  const auto outcomes = replay_both(running);
  EXPECT_EQ(outcomes[0].ending, run_ending::crashed);
  EXPECT_EQ(outcomes[0].message, "the driver ended the process with status 0");
  EXPECT_EQ(outcomes[1].ending, run_ending::stopped);
}

TEST_F(Replay, ReportsWhatDiffersFirstThingFirst) {
  const auto owner = pool(0x9000, 20);
  const auto missing = event(owner, 0xe000, 13);
  app.call("zeEventQueryStatus", when(), missing);
  const auto done = replay_trace(packed({&app}));
  EXPECT_FALSE(done.compared.same());
  ASSERT_EQ(done.compared.results.size(), 2u);
  EXPECT_EQ(describe(done.what, done.compared.results[0]),
            "call 3 zeEventCreate: SUCCESS in the recording; in the replay "
            "ERROR_OUT_OF_HOST_MEMORY");
  EXPECT_EQ(describe(done.what, done.compared.results[1]),
            "call 4 zeEventQueryStatus: SUCCESS in the recording; in the replay it could not be "
            "made, there is no event_0");
}

TEST_F(Replay, StopsAfterTheCallThatIsAskedFor) {
  const auto one = event(pool(0x9000, 1), 0xe000);
  app.call("zeEventHostSignal", when(), one);
  app.call("zeEventDestroy", when(), one);
  const auto done = replay_trace(packed({&app}), {.selection = {0, 4}});
  EXPECT_EQ(done.told.back(), "signal event0");
  EXPECT_EQ(done.what.calls.size(), 5u);
}

TEST_F(Replay, StopsWithoutAWaitThatWasNotOverByThen) {
  const auto one = event(pool(0x9000, 1), 0xe000);
  const uint64_t forever = UINT64_MAX;
  app.call("zeEventHostSynchronize", when(1000), one, forever);
  app.on_thread(2, "signaller");
  const auto owner = pool(0x9100, 1);
  const uint64_t last = 5;
  event(owner, 0xe100);
  app.call("zeEventHostSignal", when(), one);
  const auto done = replay_trace(packed({&app}), {.selection = {0, last}});
  EXPECT_EQ(done.outcome.ending, run_ending::finished);
  EXPECT_TRUE(done.compared.same());
  EXPECT_EQ(done.told.back(), "pool1 in context0 count 1 flags 1");
  ASSERT_EQ(done.what.deviations.size(), 1u);
  EXPECT_EQ(done.what.deviations[0].call, 4u);
  EXPECT_EQ(done.what.deviations[0].what, "it had not returned when call 5 did, and is left out");
}

TEST_F(Replay, RefusesHandlesThatNoRecordedCallMade) {
  const auto stranger = fake_handle<ze_event_handle_t>(0xbad);
  app.call("zeEventHostSignal", when(), stranger);
  const auto compiled = compile(packed({&app}), {});
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().message,
            "call 0: it uses the event 0xbad, which no recorded call made");
}

TEST_F(Replay, TakesAHandleThatNoRecordedCallMadeWhereTheProgramEndedInTheCall) {
  const auto stranger = fake_handle<ze_event_handle_t>(0xbad);
  app.hang("zeEventQueryStatus", 1000, stranger);
  const auto compiled = compile(packed({&app}), {});
  EXPECT_TRUE(compiled) << compiled.error().message;
}

TEST_F(Replay, SaysThatADriverDoesNotAnswer) {
  context();
  const auto compiled = compile(packed({&app}), {});
  ASSERT_TRUE(compiled);
  const auto unmet = unmet_needs(*compiled, TELLING_DRIVER, {{"ZEVENT_TEST_INIT_HANGS", "1"}}, 1);
  ASSERT_FALSE(unmet);
  EXPECT_NE(unmet.error().message.find("does not answer"), std::string::npos);
}

TEST_F(Replay, ListsWhatTheDriverHasNotGot) {
  memory(0x7f0000001000, 1 << 21);
  const auto owner = context();
  ze_device_handle_t const device = nullptr;
  const ze_command_queue_desc_t desc{ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, nullptr, 1, 3};
  const auto* desc_pointer = &desc;
  ze_command_queue_handle_t queue = nullptr;
  auto* out = &queue;
  app.call(
      "zeCommandQueueCreate", when(), ZE_RESULT_SUCCESS,
      [&] { queue = fake_handle<ze_command_queue_handle_t>(0x99); }, owner, device, desc_pointer,
      out);
  const auto compiled = compile(packed({&app}), {});
  ASSERT_TRUE(compiled);
  const auto unmet =
      unmet_needs(*compiled, TELLING_DRIVER, {{"ZEVENT_TEST_LOG", "/dev/null"}}, patience_ns);
  ASSERT_TRUE(unmet) << unmet.error().message;
  ASSERT_EQ(unmet->size(), 3u);
  EXPECT_EQ((*unmet)[0], "the function zeCommandQueueCreate");
  EXPECT_EQ((*unmet)[1], "queue 3 of group 1; groups: 1, queues in that one: 0");
  EXPECT_EQ((*unmet)[2], "an allocation of 2097152 bytes; 1048576 are possible");
}

TEST_F(Replay, OfADamagedTraceIsAnErrorOrRight) {
  const auto where = list();
  memory(0x7f0000001000, 64);
  const auto owner = pool(0x9000, 3);
  const auto one = event(owner, 0xe000, 0);
  held(copy(where, 0x7f0000001000, 0x5500000100, 5, one), 0x5500000100, "first");
  const auto bytes = trace::packed_bytes({&app});
  const size_t step = bytes.size() / 400 + 1;
  for (size_t cut = 0; cut < bytes.size(); cut += step) {
    auto shorter = bytes;
    shorter.resize(cut);
    if (const auto trace = trace::trace_file::parse(trace::own_bytes(shorter)))
      if (!trace->run().processes.empty()) static_cast<void>(compile(*trace, {}));
    auto flipped = bytes;
    flipped[cut] ^= std::byte{0x55};
    if (const auto trace = trace::trace_file::parse(trace::own_bytes(flipped)))
      if (!trace->run().processes.empty()) static_cast<void>(compile(*trace, {}));
  }
}

}  // namespace
}  // namespace zevent::replay
