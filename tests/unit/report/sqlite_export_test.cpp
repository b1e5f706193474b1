#include "report/sqlite_export.hpp"
#include "base/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "story.hpp"

namespace zevent::report {
namespace {

// Rows as text, columns separated by |.
std::vector<std::string> query(const std::filesystem::path& file, const char* statement) {
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open_v2(file.c_str(), &database, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
  std::vector<std::string> rows;
  char* problem = nullptr;
  sqlite3_exec(
      database, statement,
      [](void* to, int columns, char** values, char**) {
        std::string row;
        for (int i = 0; i < columns; ++i)
          row += (i == 0 ? "" : "|") + std::string(values[i] != nullptr ? values[i] : "null");
        static_cast<std::vector<std::string>*>(to)->push_back(row);
        return 0;
      },
      &rows, &problem);
  EXPECT_EQ(problem, nullptr) << statement << ": " << problem;
  sqlite3_free(problem);
  sqlite3_close(database);
  return rows;
}

class export_of_story : public testing::Test {
 protected:
  using strings = std::vector<std::string>;

  temporary_folder folder_;
  trace::story story_;
  trace::trace_file trace_ = trace::packed({&story_.program});
  std::filesystem::path file_ = folder_ / "story.sqlite";
};

TEST_F(export_of_story, calls_with_their_arguments) {
  const auto report = export_sqlite(trace_, {}, file_);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->calls, 13u);
  EXPECT_EQ(query(file_, "SELECT count(*) FROM calls"), strings{"13"});
  EXPECT_EQ(query(file_,
                  "SELECT thread, function, duration_ns, result, failed, "
                  "json_extract(inputs, '$.size'), command FROM calls WHERE call = 6"),
            strings{"1|zeCommandListAppendMemoryCopy|400|SUCCESS|0|4096|copy 4096 bytes"});
  EXPECT_EQ(query(file_, "SELECT duration_ns, result, outputs FROM calls WHERE call = 12"),
            strings{"null|null|null"});
}

TEST_F(export_of_story, what_threads_did_during_slow_calls) {
  trace::story story(true);
  ASSERT_TRUE(export_sqlite(trace::packed({&story.program}), {}, file_));
  EXPECT_EQ(query(file_,
                  "SELECT call, unexplained_ns, no_processor_ns, run_delay_ns, processor_ns, "
                  "involuntary_switches, other_run_delay_ns FROM call_usage"),
            strings{"8|500000|1500000|1500000|20000|3|null"});
}

TEST_F(export_of_story, objects_waits_threads_and_processes) {
  ASSERT_TRUE(export_sqlite(trace_, {}, file_));
  EXPECT_EQ(query(file_, "SELECT object, kind, released_by FROM objects WHERE kind = 'event'"),
            (strings{"event_0|event|10", "event_1|event|null"}));
  EXPECT_EQ(query(file_, "SELECT size_bytes FROM objects WHERE object = 'memory_0'"),
            strings{"8192"});
  EXPECT_EQ(query(file_, "SELECT why, awaited_call, event FROM waits WHERE call = 6"),
            (strings{"signal|5|event_0", "in order|5|null"}));
  EXPECT_EQ(query(file_, "SELECT thread, name FROM threads"), (strings{"1|main", "2|poller"}));
  EXPECT_EQ(query(file_, "SELECT process_id, state, exit_status, signal FROM processes"),
            strings{"100|ended|null|null"});
}

TEST_F(export_of_story, how_a_process_ended) {
  story_.program.file.header().end = {recording::end_kind::by_signal, 11, 0};
  ASSERT_TRUE(export_sqlite(trace::packed({&story_.program}), {}, file_));
  EXPECT_EQ(query(file_, "SELECT exit_status, signal, ended_ns FROM processes"),
            strings{"null|SIGSEGV|null"});
  story_.program.file.header().end = {recording::end_kind::exited, 3, 0};
  ASSERT_TRUE(export_sqlite(trace::packed({&story_.program}), {}, file_));
  EXPECT_EQ(query(file_, "SELECT exit_status, signal FROM processes"), strings{"3|null"});
}

TEST_F(export_of_story, device_times_of_a_profile) {
  ASSERT_TRUE(export_sqlite(trace_, {}, file_));
  EXPECT_EQ(query(file_, "SELECT count(*) FROM device_times"), strings{"0"});

  story_.add_device_times();
  ASSERT_TRUE(export_sqlite(trace::packed({&story_.program}), {}, file_));
  EXPECT_EQ(query(file_,
                  "SELECT call, execution, device, start_ns, duration_ns, impossible "
                  "FROM device_times ORDER BY call, impossible"),
            (strings{"5|5|0|7000|1500|0", "6|6|0|9000|1980000|0", "6|6|0|899999000|500|1"}));
  // As in docs/export.md.
  EXPECT_EQ(query(file_,
                  "SELECT c.command, count(*) AS runs, sum(d.duration_ns) / 1e3 AS total_us, "
                  "avg(d.start_ns - s.start_ns) / 1e3 AS waited_us "
                  "FROM device_times d JOIN calls c ON c.call = d.call "
                  "JOIN calls s ON s.call = d.execution WHERE NOT d.impossible "
                  "GROUP BY c.command ORDER BY total_us DESC"),
            (strings{"copy 4096 bytes|1|1980.0|2.0", "fill 4096 bytes|1|1.5|1.0"}));
}

TEST_F(export_of_story, filter_chooses_calls) {
  const auto filter = trace::call_filter::compile("append", trace_.names());
  ASSERT_TRUE(export_sqlite(trace_, *filter, file_));
  EXPECT_EQ(query(file_, "SELECT call FROM calls ORDER BY call"), (strings{"5", "6"}));
}

// The three queries of docs/export.md.
TEST_F(export_of_story, documented_queries_work) {
  ASSERT_TRUE(export_sqlite(trace_, {}, file_));
  EXPECT_EQ(query(file_,
                  "SELECT function, count(*) AS calls, sum(duration_ns) / 1e6 AS total_ms, "
                  "max(duration_ns) / 1e3 AS longest_us FROM calls GROUP BY function "
                  "ORDER BY total_ms DESC LIMIT 1"),
            strings{"zeEventHostSynchronize|2|2.0|2000.0"});
  EXPECT_EQ(query(file_,
                  "SELECT q.call, w.event, w.awaited_call, c.command FROM calls q "
                  "JOIN waits w ON w.call = q.call LEFT JOIN calls c ON c.call = w.awaited_call "
                  "WHERE q.function = 'zeEventHostSynchronize' AND q.duration_ns > 100000"),
            strings{"8|event_1|6|copy 4096 bytes"});
  EXPECT_EQ(query(file_,
                  "SELECT o.object, o.first_call, c.thread, "
                  "json_extract(c.inputs, '$.hEventPool') AS pool "
                  "FROM objects o JOIN calls c ON c.call = o.first_call "
                  "WHERE o.kind = 'event' AND o.released_by IS NULL"),
            strings{"event_1|4|1|0x90"});
}

TEST_F(export_of_story, file_that_cannot_be_written_is_said_and_leaves_nothing) {
  const auto report = export_sqlite(trace_, {}, folder_ / "no/such/folder/x.sqlite");
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().message.find("cannot write"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

}  // namespace
}  // namespace zevent::report
