#include "trace/run_info.hpp"

#include <gtest/gtest.h>

namespace zevent::trace {
namespace {

run_info example() {
  run_info run;
  run.start_realtime_ns = 1'753'849'873'932'144'867;
  run.processes.push_back({100,
                           1,
                           "here",
                           process_state::ended,
                           "",
                           0,
                           2,
                           {{"executable", "/bin/app"}, {"command line", std::string("a\0b", 3)}},
                           {{"passed through zeNew", 7}}});
  run.processes.push_back({101, 100, "there", process_state::stopped, "disk full", 5, 0, {}, {}});
  run.threads.push_back({0, 100, "main"});
  run.threads.push_back({1, 103, "worker"});
  return run;
}

TEST(run_info, everything_comes_back_as_it_was) {
  const auto run = decode_run_info(encode_run_info(example()));
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->start_realtime_ns, example().start_realtime_ns);
  ASSERT_EQ(run->processes.size(), 2u);
  EXPECT_EQ(run->processes[0].fact("executable"), "/bin/app");
  EXPECT_EQ(run->processes[0].fact("command line"), std::string("a\0b", 3));
  EXPECT_EQ(run->processes[0].fact("unheard of"), "");
  EXPECT_EQ(run->processes[0].counters, example().processes[0].counters);
  EXPECT_EQ(run->processes[1].state, process_state::stopped);
  EXPECT_EQ(run->processes[1].stop_reason, "disk full");
  EXPECT_EQ(run->processes[1].lost_calls, 5u);
  ASSERT_EQ(run->threads.size(), 2u);
  EXPECT_EQ(run->threads[1].name, "worker");
  EXPECT_EQ(run->threads[1].process, 1u);
}

TEST(run_info, field_of_a_later_version_is_stepped_over) {
  auto bytes = encode_run_info(example());
  for (const int each : {99, 2, 1, 2}) bytes.push_back(static_cast<std::byte>(each));
  const auto run = decode_run_info(bytes);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->threads.size(), 2u);
}

TEST(run_info, how_a_process_ended_comes_back_where_it_is_known) {
  auto run = example();
  run.processes[0].end = {end_kind::by_signal, 11, 5000};
  const auto read = decode_run_info(encode_run_info(run));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->processes[0].end, run.processes[0].end);
  EXPECT_EQ(read->processes[1].end, process_end{}) << "as in every trace from before it was noted";
}

TEST(run_info, fork_comes_back_where_the_parent_is_an_earlier_process) {
  auto run = example();
  run.processes[0].fork = process_fork{0, 10};
  run.processes[1].fork = process_fork{0, 7000};
  const auto read = decode_run_info(encode_run_info(run));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->processes[1].fork, run.processes[1].fork);
  EXPECT_FALSE(read->processes[0].fork) << "no process is its own parent";
}

TEST(run_info, end_of_a_kind_of_a_later_version_is_not_known) {
  auto run = example();
  run.processes[0].end = {static_cast<end_kind>(77), 3, std::nullopt};
  const auto read = decode_run_info(encode_run_info(run));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->processes[0].end.kind, end_kind::unknown);
  EXPECT_EQ(to_text(read->processes[0].end), "");
}

TEST(run_info, end_of_a_process_as_text) {
  EXPECT_EQ(to_text(process_end{end_kind::exited, 3, {}}), "exit status 3");
  EXPECT_EQ(to_text(process_end{end_kind::by_signal, 11, {}}), "ended by SIGSEGV");
  EXPECT_EQ(to_text(process_end{end_kind::replaced, 0, {}}), "became another program");
  EXPECT_TRUE((process_end{end_kind::by_signal, 6, {}}).is_crash());
  EXPECT_FALSE((process_end{end_kind::by_signal, 9, {}}).is_crash());
  EXPECT_FALSE((process_end{end_kind::exited, 11, {}}).is_crash());
}

TEST(run_info, thread_of_no_process_is_refused) {
  auto run = example();
  run.threads[0].process = 2;
  EXPECT_FALSE(decode_run_info(encode_run_info(run)));
}

TEST(run_info, cut_or_flipped_bytes_never_crash) {
  const auto whole = encode_run_info(example());
  for (size_t i = 0; i < whole.size(); ++i) {
    (void)decode_run_info(std::span(whole).first(i));
    for (const auto flip : {std::byte{1}, std::byte{0x80}, std::byte{0xff}}) {
      auto bytes = whole;
      bytes[i] ^= flip;
      (void)decode_run_info(bytes);
    }
  }
}

}  // namespace
}  // namespace zevent::trace
