#include "trace/call_usage.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "packed.hpp"
#include "written_file.hpp"

namespace zevent::trace {
namespace {

const auto some_event = fake_handle<ze_event_handle_t>(0xe);

uint64_t query(fake_program& program, uint64_t start_ns, uint64_t duration_ns) {
  return program.call("zeEventQueryStatus", {start_ns, duration_ns}, some_event);
}

// From a microsecond before the call until a microsecond after it.
recording::usage_record around(uint64_t start_ns, uint64_t duration_ns) {
  recording::usage_record raw{};
  raw.from = start_ns - 1000;
  raw.until = start_ns + duration_ns + 1000;
  return raw;
}

TEST(call_usage, is_packed_with_its_call) {
  fake_program program;
  query(program, 1'000'000, 100);
  const auto slow = query(program, 2'000'000, 28'000'000);
  auto raw = around(2'000'000, 28'000'000);
  raw.header.flags = recording::usage_has_run_delay | recording::usage_has_others;
  raw.processor_ns = 5000;
  raw.run_delay_ns = 27'900'000;
  raw.minor_faults = 3;
  raw.major_faults = 1;
  raw.voluntary_switches = 2;
  raw.involuntary_switches = 4;
  raw.others_from = 1'500'000;
  raw.other_run_delay_ns = 12'000;
  raw.other_processor_ns = 13'000;
  raw.other_threads = 5;
  raw.runnable_tasks = 7;
  raw.processors = 2;
  program.file.usage(slow, raw);
  query(program, 40'000'000, 100);

  const auto trace = packed({&program});
  EXPECT_TRUE(trace.has_usage());
  call_usage_reader reader(trace);
  EXPECT_EQ(reader.find(call_number{0}), nullptr);
  EXPECT_EQ(reader.find(call_number{2}), nullptr);
  const auto* note = reader.find(call_number{1});
  ASSERT_NE(note, nullptr);
  const call_usage expected{call_number{1},
                            1000,
                            1000,
                            5000,
                            27'900'000,
                            3,
                            1,
                            2,
                            4,
                            500'000,
                            12'000,
                            13'000,
                            5,
                            7,
                            2,
                            usage_has_run_delay | usage_has_others};
  EXPECT_EQ(*note, expected);
}

TEST(call_usage, is_of_a_call_with_outputs_too) {
  fake_program program;
  const auto place = program.file.call(
      api::builtin_model().index_of(*api::builtin_model().find_function("zeEventQueryStatus")),
      1'000'000, recording::returned_word(0, 500'000), std::string(8, '\0'));
  program.file.usage(place, around(1'000'000, 500'000));
  program.file.completion(place, 1'500'000);
  query(program, 2'000'000, 10);
  const auto trace = packed({&program});
  call_usage_reader reader(trace);
  EXPECT_NE(reader.find(call_number{0}), nullptr);
}

TEST(call_usage, is_left_out_where_it_is_not_around_its_call) {
  fake_program program;
  auto late = around(1'000'000, 500'000);
  late.from = 1'000'001;
  program.file.usage(query(program, 1'000'000, 500'000), late);
  auto early = around(2'000'000, 500'000);
  early.until = 2'499'999;
  program.file.usage(query(program, 2'000'000, 500'000), early);
  program.file.usage(12345, around(2'000'000, 500'000));
  const auto trace = packed({&program});
  EXPECT_TRUE(trace.damage().empty());
  EXPECT_FALSE(trace.has_usage());
}

TEST(call_usage, of_a_trace_without_notes_is_nothing) {
  fake_program program;
  query(program, 1'000'000, 500'000);
  const auto trace = packed({&program});
  EXPECT_FALSE(trace.has_usage());
  call_usage_reader reader(trace);
  EXPECT_EQ(reader.find(call_number{0}), nullptr);
}

// In any order, with the notes in several chunks.
TEST(call_usage, is_found_as_a_map_would_find_it) {
  std::mt19937_64 random(7);
  fake_program program;
  program.file.segment(3000);
  program.on_thread(1);
  std::map<uint64_t, uint64_t> expected;  // run delay by call
  constexpr uint64_t calls = 40'000;
  for (uint64_t i = 0; i < calls; ++i) {
    const uint64_t start_ns = 1'000'000 + i * 200'000;
    const auto place = query(program, start_ns, 100'000);
    if (random() % 2 == 0) continue;
    auto raw = around(start_ns, 100'000);
    raw.header.flags = recording::usage_has_run_delay;
    raw.run_delay_ns = expected[i] = random() >> 2;
    program.file.usage(place, raw);
  }
  const auto trace = packed({&program});
  ASSERT_EQ(trace.calls(), calls);
  call_usage_reader reader(trace);
  const auto check = [&](uint64_t call) {
    const auto* note = reader.find(call_number{call});
    const auto found = expected.find(call);
    ASSERT_EQ(note != nullptr, found != expected.end()) << call;
    if (note == nullptr) return;
    EXPECT_EQ(number_of(note->call), call);
    EXPECT_EQ(note->run_delay_ns, found->second);
  };
  for (uint64_t i = 0; i < calls; ++i) check(i);
  for (int i = 0; i < 2000; ++i) check(random() % (calls + 10));
}

TEST(call_usage, of_calls_that_are_not_there_is_left_out) {
  const auto file = chunk_file::parse(own_bytes(written_file([&](chunk_writer& writer) {
    call_usage_writer out;
    for (const uint64_t call : {3u, 3u, 9u, 12u}) {
      call_usage note;
      note.call = call_number{call};
      note.before_ns = UINT64_MAX;
      ASSERT_TRUE(out.add(note, writer));
    }
    ASSERT_TRUE(out.flush(writer));
  })));
  ASSERT_EQ(file->chunks().size(), 1u);
  const auto& entry = file->chunks().front();
  const auto notes = read_call_usage(*file->load(entry), entry, 10);
  ASSERT_TRUE(notes) << notes.error().message;
  ASSERT_EQ(notes->size(), 2u);
  EXPECT_EQ(number_of((*notes)[0].call), 3u);
  EXPECT_EQ(number_of((*notes)[1].call), 9u);
  EXPECT_EQ((*notes)[0].before_ns, latest_time_ns);
}

TEST(call_usage, of_a_chunk_that_claims_too_much_is_refused) {
  const auto file = chunk_file::parse(own_bytes(written_file([&](chunk_writer& writer) {
    ASSERT_TRUE(writer.append(chunk_kind::call_usage, 0, max_calls_per_chunk + 1, {}));
  })));
  const auto& entry = file->chunks().front();
  EXPECT_FALSE(read_call_usage(*file->load(entry), entry, 10));
}

}  // namespace
}  // namespace zevent::trace
