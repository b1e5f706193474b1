#include "model/symptom_search.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "packed.hpp"

namespace zevent::model {
namespace {

using trace::fake_handle;
using trace::fake_program;
using trace::packed;

constexpr uint64_t millisecond = 1'000'000;

class SymptomSearch : public ::testing::Test {
 protected:
  void list(uint64_t handle, ze_command_queue_mode_t mode) {
    ze_context_handle_t const context = nullptr;
    ze_device_handle_t const device = nullptr;
    const ze_command_queue_desc_t desc{
        ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, nullptr, 0, 0, 0, mode, {}};
    const auto* desc_pointer = &desc;
    ze_command_list_handle_t made = nullptr;
    auto* out = &made;
    app.call(
        "zeCommandListCreateImmediate", {now += 100, 10}, ZE_RESULT_SUCCESS,
        [&] { made = fake_handle<ze_command_list_handle_t>(handle); }, context, device,
        desc_pointer, out);
  }

  void barrier(uint64_t handle, uint64_t duration_ns) {
    const auto on = fake_handle<ze_command_list_handle_t>(handle);
    ze_event_handle_t const none = nullptr;
    const uint32_t zero = 0;
    ze_event_handle_t* const no_events = nullptr;
    app.call("zeCommandListAppendBarrier", {now += 100 * millisecond, duration_ns}, on, none, zero,
             no_events);
  }

  void query(uint64_t duration_ns, ze_result_t result = ZE_RESULT_SUCCESS) {
    last_query = app.call(
        "zeEventQueryStatus", {now += 100 * millisecond, duration_ns}, result, [] {}, event);
  }

  // A query whose thread had no processor for so long, and slept for the rest.
  void query_without_processor(uint64_t duration_ns, uint64_t run_delay_ns) {
    query(duration_ns);
    recording::usage_record note{};
    note.header.flags = recording::usage_has_run_delay;
    note.from = now - 1000;
    note.until = now + duration_ns + 1000;
    note.run_delay_ns = run_delay_ns;
    note.voluntary_switches = 1;
    app.file.usage(last_query, note);
  }

  std::string found() {
    app.file.header().state = state;
    app.file.header().end = end;
    const auto searched = find_symptom(packed({&app}), 0);
    EXPECT_TRUE(searched);
    return *searched ? fmt::format("{}: {}", to_text((*searched)->what), (*searched)->why) : "none";
  }

  std::string crash_in_no_call(uint64_t last_call = UINT64_MAX) {
    app.file.header().state = state;
    app.file.header().end = end;
    const uint32_t first = 0;
    const auto all = find_crashes_in_no_call(packed({&app}), {&first, 1}, last_call);
    if (all.empty()) return "none";
    EXPECT_EQ(all.size(), 1u);
    return (all[0].is_programs_own ? "its own: " : "") + all[0].why;
  }

  fake_program app;
  uint64_t now = 1000;
  uint64_t last_query = 0;  // its place
  ze_event_handle_t event = fake_handle<ze_event_handle_t>(0xe);
  // The process was ended by a signal so long after the first call of the recording.
  void ended_by(int signal, uint64_t after_ns) {
    state = recording::part_state::recording;
    end = {recording::end_kind::by_signal, static_cast<uint32_t>(signal), first_call + after_ns};
  }

  static constexpr uint64_t first_call = uint64_t{1'753'849'873} * 1'000'000'000 + 1099;
  recording::part_state state = recording::part_state::closed;
  recording::process_end end{};
};

TEST_F(SymptomSearch, FindsTheQueryThatBlocked) {
  query(1000);
  query(50 * millisecond);
  query(20 * millisecond);
  EXPECT_EQ(found(), "1>100us: call 1 zeEventQueryStatus took 50.0 ms and may not block");
}

TEST_F(SymptomSearch, DoesNotBlameTheDriverForTheScheduler) {
  query(1000);
  query_without_processor(28 * millisecond, 28 * millisecond);
  EXPECT_EQ(found(), "none");
}

TEST_F(SymptomSearch, PrefersTheCallWithTheLongestTimeThatNothingExplains) {
  query(1000);
  query_without_processor(90 * millisecond, 60 * millisecond);
  query_without_processor(40 * millisecond, 1 * millisecond);
  EXPECT_EQ(found(),
            "2>100us: call 2 zeEventQueryStatus took 40.0 ms, 39.0 ms of it without an explanation "
            "(its thread waited 1.0 ms for a processor) and may not block");
}

TEST_F(SymptomSearch, LetsTheFirstAppendTakeLonger) {
  list(0x2, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
  barrier(0x2, 3 * millisecond);
  barrier(0x2, 1000);
  EXPECT_EQ(found(), "none");
}

TEST_F(SymptomSearch, LetsWaitsAndSynchronousListsBlock) {
  const uint64_t forever = UINT64_MAX;
  app.call("zeEventHostSynchronize", {now += 100, 90 * millisecond}, event, forever);
  list(0x1, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  barrier(0x1, 80 * millisecond);
  EXPECT_EQ(found(), "none");
  list(0x2, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
  barrier(0x2, 70 * millisecond);
  EXPECT_EQ(found(),
            "4>100us: call 4 zeCommandListAppendBarrier took "
            "70.0 ms and may not block");
}

TEST_F(SymptomSearch, TellsOfWhatASymptomIsASign) {
  EXPECT_EQ(kind_of(crash{}), symptom_kind::crash);
  EXPECT_EQ(kind_of(hang{}), symptom_kind::hang);
  EXPECT_EQ(kind_of(memory_differs{}), symptom_kind::wrong_memory);
  EXPECT_EQ(kind_of(call_with_result{}), symptom_kind::error);
  EXPECT_EQ(kind_of(slow_call{}), symptom_kind::stall);
  EXPECT_LT(symptom_kind::error, symptom_kind::stall);
}

TEST_F(SymptomSearch, PrefersAnErrorToASlowCall) {
  query(50 * millisecond);
  query(10, ZE_RESULT_ERROR_DEVICE_LOST);
  EXPECT_EQ(found(),
            "1 result=ERROR_DEVICE_LOST: call 1 zeEventQueryStatus returned "
            "ERROR_DEVICE_LOST");
}

TEST_F(SymptomSearch, DoesNotMindThatADriverLacksSomething) {
  const char* name = "zexNothing";
  ze_driver_handle_t const driver = nullptr;
  void* address = nullptr;
  auto* out = &address;
  app.call(
      "zeDriverGetExtensionFunctionAddress", {now += 100, 10}, ZE_RESULT_ERROR_INVALID_ARGUMENT,
      [] {}, driver, name, out);
  query(10, ZE_RESULT_NOT_READY);
  EXPECT_EQ(found(), "none");
}

TEST_F(SymptomSearch, TellsAHangFromACrash) {
  const uint64_t forever = UINT64_MAX;
  app.hang("zeEventHostSynchronize", now += 100, event, forever);
  state = recording::part_state::recording;
  EXPECT_EQ(found(), "hang: call 0 zeEventHostSynchronize did not return");
  app.on_thread(2);
  app.hang("zeEventQueryStatus", now += 100, event);
  EXPECT_EQ(found(), "crash: the program ended inside call 1 zeEventQueryStatus");
}

TEST_F(SymptomSearch, FindsACrashInACallThatWaits) {
  const uint64_t forever = UINT64_MAX;
  app.hang("zeEventHostSynchronize", now += 100, event, forever);
  ended_by(SIGSEGV, millisecond);
  EXPECT_EQ(found(),
            "crash=SIGSEGV: the program was ended by SIGSEGV in call 0 zeEventHostSynchronize, or "
            "elsewhere while it waited");
  app.on_thread(2);
  app.hang("zeEventQueryStatus", now += 100, event);
  app.on_thread(3);
  app.hang("zeEventHostSynchronize", now += 100, event, forever);
  EXPECT_EQ(found(),
            "crash=SIGSEGV: the program was ended by SIGSEGV in call 1 zeEventQueryStatus");
}

TEST_F(SymptomSearch, FindsAHangInAWaitThatSomebodyEnded) {
  const uint64_t forever = UINT64_MAX;
  app.hang("zeEventHostSynchronize", now += 100, event, forever);
  ended_by(SIGTERM, 12'000 * millisecond);
  EXPECT_EQ(found(),
            "hang: call 0 zeEventHostSynchronize did not return; 12.00 s later the program was "
            "ended by SIGTERM");
}

TEST_F(SymptomSearch, DoesNotTakeAPollThatSomebodyEndedForACrash) {
  app.hang("zeEventQueryStatus", now += 100, event);
  ended_by(SIGINT, 3 * millisecond);
  EXPECT_EQ(found(), "none");
  ended_by(SIGINT, 3000 * millisecond);
  EXPECT_EQ(found(),
            "hang: call 0 zeEventQueryStatus did not return; 3.00 s later the program was ended "
            "by SIGINT");
}

TEST_F(SymptomSearch, DoesNotTakeAShortWaitInALoopForAHang) {
  const uint64_t limit = 1;
  app.hang("zeEventHostSynchronize", now += 100, event, limit);
  ended_by(SIGINT, 6 * millisecond);
  EXPECT_EQ(found(), "none");
  ended_by(SIGINT, 3000 * millisecond);
  EXPECT_EQ(found(),
            "hang: call 0 zeEventHostSynchronize did not return; 3.00 s later the program was "
            "ended by SIGINT");
}

TEST_F(SymptomSearch, LetsAProgramExitWhileAThreadWaitsAlsoWithoutAWordToTheRecorder) {
  const uint64_t forever = UINT64_MAX;
  app.hang("zeEventHostSynchronize", now += 100, event, forever);
  state = recording::part_state::recording;
  end = {recording::end_kind::exited, 3, first_call};
  EXPECT_EQ(found(), "none");
}

TEST_F(SymptomSearch, LooksForSomethingElseWhereTheProgramCrashedBetweenCalls) {
  query(10);
  ended_by(SIGABRT, 1000 * millisecond);
  EXPECT_EQ(found(), "none") << "calls do not show that crash again";
  query(50 * millisecond);
  EXPECT_EQ(found(), "1>100us: call 1 zeEventQueryStatus took 50.0 ms and may not block");
  query(10, ZE_RESULT_ERROR_DEVICE_LOST);
  EXPECT_EQ(found(),
            "2 result=ERROR_DEVICE_LOST: call 2 zeEventQueryStatus returned ERROR_DEVICE_LOST");
  const auto shown = find_shown(packed({&app}), crash{SIGABRT});
  ASSERT_TRUE(shown);
  ASSERT_EQ(shown->size(), 1u) << "the recording shows it all the same";
  EXPECT_EQ(shown->front().why,
            "the program was ended by SIGABRT after call 2 zeEventQueryStatus, in no call");
}

TEST_F(SymptomSearch, KnowsWhetherOnlyTheProgramsOwnCodeCanHaveCrashed) {
  list(0x1, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
  ended_by(SIGSEGV, 1000 * millisecond);
  EXPECT_EQ(crash_in_no_call(),
            "its own: the program was ended by SIGSEGV after call 0 zeCommandListCreateImmediate, "
            "in no call; no command was under way: it crashed in its own code");
  barrier(0x1, 10);
  EXPECT_EQ(crash_in_no_call(),
            "the program was ended by SIGSEGV after call 1 zeCommandListAppendBarrier, in no call; "
            "commands may have been under way: it crashed in its own code or in a thread of the "
            "driver");
  const auto on = fake_handle<ze_command_list_handle_t>(0x1);
  const uint64_t forever = UINT64_MAX;
  app.call("zeCommandListHostSynchronize", {now += 100 * millisecond, 10}, on, forever);
  EXPECT_EQ(crash_in_no_call().substr(0, 8), "its own:");
  app.file.header().lost_calls = 3;
  EXPECT_EQ(crash_in_no_call(),
            "the program was ended by SIGSEGV after call 2 zeCommandListHostSynchronize; calls are "
            "missing: it crashed in one of them, in its own code or in a thread of the driver");
}

TEST_F(SymptomSearch, FindsNoCrashInNoCallWhereACallDidNotReturnOrNothingCrashed) {
  query(10);
  ended_by(SIGTERM, millisecond);
  EXPECT_EQ(crash_in_no_call(), "none");
  app.hang("zeEventQueryStatus", now += 100, event);
  ended_by(SIGSEGV, millisecond);
  EXPECT_EQ(crash_in_no_call(), "none");
}

TEST_F(SymptomSearch, DoesNotFindACrashThatIsLeftOut) {
  query(10);
  query(10);
  ended_by(SIGSEGV, 1000 * millisecond);
  EXPECT_EQ(crash_in_no_call(0), "none");
  EXPECT_NE(crash_in_no_call(1), "none");
}

TEST_F(SymptomSearch, KnowsSignalsAndStatusesWhereTheRecordingTellsThem) {
  query(10);
  ended_by(SIGSEGV, 1000 * millisecond);
  app.file.header().state = state;
  app.file.header().end = end;
  const auto is_shown = [&](std::string_view wanted) {
    const auto shown = find_shown(packed({&app}), *parse_symptom(wanted));
    EXPECT_TRUE(shown) << shown.error().message;
    return !shown->empty();
  };
  EXPECT_TRUE(is_shown("crash"));
  EXPECT_TRUE(is_shown("crash=SIGSEGV"));
  EXPECT_FALSE(is_shown("crash=SIGBUS"));
  EXPECT_FALSE(is_shown("exit=3"));
  app.file.header().end = {recording::end_kind::exited, 3, 0};
  EXPECT_FALSE(is_shown("crash"));
  EXPECT_TRUE(is_shown("exit=3"));
  EXPECT_FALSE(is_shown("exit=4"));

  app.hang("zeEventQueryStatus", now += 100, event);
  app.file.header().end = {};
  EXPECT_TRUE(is_shown("crash"));
  for (const char* wanted : {"crash=SIGSEGV", "exit=3"}) {
    const auto shown = find_shown(packed({&app}), *parse_symptom(wanted));
    ASSERT_FALSE(shown) << wanted;
    EXPECT_NE(shown.error().message.find("does not tell"), std::string::npos);
  }
}

TEST_F(SymptomSearch, SaysWhereARecordingShowsASymptom) {
  query(1000);
  query(50 * millisecond);
  query(10, ZE_RESULT_ERROR_DEVICE_LOST);
  const auto trace = trace::packed({&app});
  const auto shown = [&](std::string_view wanted) {
    std::string lines;
    const auto found = find_shown(trace, *parse_symptom(wanted));
    if (!found) return found.error().message;
    for (const auto& each : *found) lines += each.why + "\n";
    return lines;
  };
  EXPECT_EQ(shown("zeEvent*>10ms"), "call 1 zeEventQueryStatus returned SUCCESS after 50.0 ms\n");
  EXPECT_EQ(shown("zeEvent*>1s"), "");
  EXPECT_EQ(shown("2 result=ERROR_DEVICE_LOST"),
            "call 2 zeEventQueryStatus returned ERROR_DEVICE_LOST after 10 ns\n");
  EXPECT_EQ(shown("hang"), "");
  EXPECT_NE(shown("memory").find("zevent replay"), std::string::npos);
  EXPECT_EQ(shown("exit=3"), "the recording does not tell how process 100 ended");
}

TEST_F(SymptomSearch, LetsAProcessEndWhileAThreadWaits) {
  const uint64_t forever = UINT64_MAX;
  app.hang("zeEventHostSynchronize", now += 100, event, forever);
  EXPECT_EQ(found(), "none");
}

}  // namespace
}  // namespace zevent::model
