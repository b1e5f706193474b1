#include "report/trace_summary.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "report/summary_output.hpp"
#include "story.hpp"

namespace zevent::report {
namespace {

class summary_of_story : public testing::Test {
 protected:
  const function_summary* row(std::string_view name, const trace_summary& summary) const {
    for (const auto& each : summary.functions)
      if (trace_.model().functions[each.function].name == name) return &each;
    return nullptr;
  }

  template <typename Write>
  std::string written(Write write) {
    const int descriptor = memfd_create("summary", MFD_CLOEXEC);
    {
      text_output out(descriptor);
      write(out);
    }
    std::string text(static_cast<size_t>(lseek(descriptor, 0, SEEK_END)), '\0');
    EXPECT_EQ(pread(descriptor, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    close(descriptor);
    return text;
  }

  trace::story story_;
  trace::trace_file trace_ = trace::packed({&story_.program});
};

TEST_F(summary_of_story, counts_and_times_by_function) {
  const auto summary = summarise(trace_, {}, {});
  EXPECT_EQ(summary.calls, 13u);
  EXPECT_EQ(summary.failed, 1u);
  EXPECT_EQ(summary.unreturned, 1u);
  EXPECT_EQ(trace_.model().functions[summary.functions.front().function].name,
            "zeEventHostSynchronize");
  const auto* query = row("zeEventQueryStatus", summary);
  ASSERT_NE(query, nullptr);
  EXPECT_EQ(query->calls, 2u);
  EXPECT_EQ(query->failed, 0u) << "NOT_READY is no error";
  EXPECT_EQ(query->durations.total_ns(), 180u);
  EXPECT_EQ(query->durations.most_ns(), 100u);
  const auto* wait = row("zeEventHostSynchronize", summary);
  EXPECT_EQ(wait->calls, 2u);
  EXPECT_EQ(wait->unreturned, 1u);
  EXPECT_EQ(wait->durations.count(), 1u);
  EXPECT_EQ(row("zeEventDestroy", summary)->failed, 1u);
}

TEST_F(summary_of_story, slowest_calls_come_first) {
  const auto summary = summarise(trace_, {}, {.slowest = 3});
  ASSERT_EQ(summary.slowest.size(), 3u);
  EXPECT_EQ(number_of(summary.slowest[0].number), 8u);
  EXPECT_EQ(summary.slowest[1].duration_ns, 500u);
  EXPECT_EQ(summary.slowest[2].duration_ns, 400u);
  EXPECT_TRUE(summarise(trace_, {}, {.slowest = 0}).slowest.empty());
}

// Of two polls the one comes first whose time nothing explains, though the other took longer.
TEST_F(summary_of_story, slowest_calls_are_those_that_nothing_explains) {
  trace::fake_program program;
  const auto event = trace::fake_handle<ze_event_handle_t>(0xe);
  const auto preempted = program.call("zeEventQueryStatus", {1'000'000, 28'000'000}, event);
  recording::usage_record note{};
  note.header.flags = recording::usage_has_run_delay;
  note.from = 999'000;
  note.until = 29'001'000;
  note.run_delay_ns = 27'900'000;
  note.voluntary_switches = 1;
  program.file.usage(preempted, note);
  program.call("zeEventQueryStatus", {30'000'000, 5'000'000}, event);
  program.call("zeEventQueryStatus", {40'000'000, 200}, event);
  const auto trace = trace::packed({&program});
  const auto summary = summarise(trace, {}, {.slowest = 2});
  ASSERT_EQ(summary.slowest.size(), 2u);
  EXPECT_EQ(number_of(summary.slowest[0].number), 1u);
  EXPECT_EQ(number_of(summary.slowest[1].number), 0u);
  EXPECT_EQ(summary.slowest[1].time.unexplained_ns(), 100'000u);

  const auto text =
      written([&](text_output& out) { write_summary_text(trace, summary, {.title = "t"}, out); });
  EXPECT_NE(text.find("its thread waited 27.9 ms for a processor; 100 us are left"),
            std::string::npos)
      << text;
  const auto json = nlohmann::json::parse(
      written([&](text_output& out) { write_summary_json(trace, summary, out); }));
  EXPECT_EQ(json["slowest"][0]["unexplained_ns"], 5'000'000);
  EXPECT_FALSE(json["slowest"][0].contains("no_processor_ns"));
  EXPECT_EQ(json["slowest"][1]["duration_ns"], 28'000'000);
  EXPECT_EQ(json["slowest"][1]["no_processor_ns"], 27'900'000);
}

TEST_F(summary_of_story, copies_by_kind_of_memory) {
  const auto summary = summarise(trace_, {}, {});
  ASSERT_EQ(summary.copies.size(), 2u);
  EXPECT_EQ(summary.copies.at("device to host").bytes, 4096u);
  EXPECT_EQ(summary.copies.at("fill of device").commands, 1u);
}

TEST_F(summary_of_story, events_waits_and_polls) {
  const auto events = summarise(trace_, {}, {}).events;
  EXPECT_EQ(events.created, 2u);
  EXPECT_EQ(events.most_alive, 2u);
  EXPECT_EQ(events.waits, 2u);
  EXPECT_EQ(events.blocked_ns, 2'000'000u);
  EXPECT_EQ(events.polls, 2u);
  EXPECT_EQ(events.polls_ready, 1u);
}

TEST_F(summary_of_story, filter_limits_what_is_counted) {
  const auto filter = trace::call_filter::compile("thread 2", trace_.names());
  const auto summary = summarise(trace_, *filter, {});
  EXPECT_EQ(summary.calls, 1u);
  EXPECT_EQ(summary.threads[0].calls, 0u);
  EXPECT_EQ(summary.threads[1].calls, 1u);
  EXPECT_TRUE(summary.copies.empty());
}

TEST_F(summary_of_story, text_says_it_all) {
  const auto summary = summarise(trace_, {}, {});
  const auto text = written([&](text_output& out) {
    write_summary_text(trace_, summary, {.title = "story.zev", .columns = 60}, out);
  });
  for (const char* expected :
       {"story.zev: 13 calls by 2 threads of 1 process", "1 failed, 1 did not return",
        "device to host", "2 created, at most 2 alive at once", "2 polls, 2.0 for each success",
        "P1 T2 poller"})
    EXPECT_NE(text.find(expected), std::string::npos) << expected << " is not in\n" << text;
}

TEST_F(summary_of_story, json_has_the_same_numbers) {
  const auto summary = summarise(trace_, {}, {});
  const auto text = written([&](text_output& out) { write_summary_json(trace_, summary, out); });
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["calls"], 13);
  EXPECT_EQ(json["functions"].size(), summary.functions.size());
  EXPECT_EQ(json["functions"][0]["max_ns"], 2'000'000);
  EXPECT_EQ(json["events"]["polls"], 2);
  EXPECT_EQ(json["threads"][1]["name"], "poller");
}

TEST_F(summary_of_story, says_how_a_process_ended) {
  story_.program.file.header().end = {recording::end_kind::by_signal, 11, 0};
  const auto crashed = trace::packed({&story_.program});
  const auto summary = summarise(crashed, {}, {});
  const auto text = written([&](text_output& out) {
    write_summary_text(crashed, summary, {.title = "story.zev", .columns = 50}, out);
  });
  EXPECT_NE(text.find("P1 100 on here, ended by SIGSEGV: 13 calls"), std::string::npos) << text;
  const auto json = nlohmann::json::parse(
      written([&](text_output& out) { write_summary_json(crashed, summary, out); }));
  EXPECT_EQ(json["processes"][0]["signal"], "SIGSEGV");
  EXPECT_FALSE(json["processes"][0].contains("exit_status"));

  story_.program.file.header().end = {recording::end_kind::exited, 3, 0};
  const auto failed = trace::packed({&story_.program});
  const auto other = nlohmann::json::parse(
      written([&](text_output& out) { write_summary_json(failed, summary, out); }));
  EXPECT_EQ(other["processes"][0]["exit_status"], 3);
}

// A list that is executed twice copies twice; what was appended before a reset does not count.
TEST(trace_summary, regular_list_counts_when_it_is_executed) {
  trace::fake_program program;
  auto list = trace::fake_handle<ze_command_list_handle_t>(0x11);
  const auto context = trace::fake_handle<ze_context_handle_t>(0xc0);
  const auto device = trace::fake_handle<ze_device_handle_t>(0xd0);
  const auto queue = trace::fake_handle<ze_command_queue_handle_t>(0xb0);
  const ze_command_list_desc_t desc{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, 0, 0};
  const auto* desc_pointer = &desc;
  auto* list_pointer = &list;
  program.call(
      "zeCommandListCreate", {1000, 10}, ZE_RESULT_SUCCESS, [] {}, context, device, desc_pointer,
      list_pointer);
  const void* source = trace::fake_handle<void*>(0x1000);
  void* destination = trace::fake_handle<void*>(0x2000);
  const size_t bytes = 100;
  const ze_event_handle_t no_event = nullptr;
  const uint32_t no_events = 0, one_list = 1;
  ze_event_handle_t* none = nullptr;
  const ze_fence_handle_t no_fence = nullptr;
  uint64_t now = 2000;
  const auto copy = [&] {
    program.call("zeCommandListAppendMemoryCopy", {now += 100, 10}, list, destination, source,
                 bytes, no_event, no_events, none);
  };
  const auto execute = [&] {
    program.call("zeCommandQueueExecuteCommandLists", {now += 100, 10}, queue, one_list,
                 list_pointer, no_fence);
  };
  copy();
  execute();
  execute();
  program.call("zeCommandListReset", {now += 100, 10}, list);
  copy();
  const auto trace = trace::packed({&program});
  const auto copies = summarise(trace, {}, {}).copies;
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies.at("program to program").commands, 2u);
  EXPECT_EQ(copies.at("program to program").bytes, 200u);
}

}  // namespace
}  // namespace zevent::report
