#include "report/sqlite_export.hpp"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>

#include "api/print.hpp"
#include "base/signal_name.hpp"
#include "model/append_waits.hpp"
#include "model/call_time.hpp"
#include "report/call_json.hpp"
#include "report/sqlite_database.hpp"
#include "report/unfinished_file.hpp"
#include "trace/device_times.hpp"

namespace zevent::report {
namespace {

using trace::number_of;

constexpr uint64_t rows_per_progress = 16384;

// docs/export.md explains every column.
constexpr const char* schema = R"(
  PRAGMA journal_mode = OFF;
  PRAGMA synchronous = OFF;
  CREATE TABLE run (start_realtime_ns INTEGER, calls INTEGER, api_version TEXT);
  CREATE TABLE processes (
    process INTEGER PRIMARY KEY, process_id INTEGER, parent_process_id INTEGER, host TEXT,
    state TEXT, stop_reason TEXT, lost_calls INTEGER, exit_status INTEGER, signal TEXT,
    ended_ns INTEGER);
  CREATE TABLE facts (process INTEGER REFERENCES processes, name TEXT, value TEXT);
  CREATE TABLE threads (
    thread INTEGER PRIMARY KEY, process INTEGER REFERENCES processes, thread_id INTEGER,
    name TEXT);
  CREATE TABLE calls (
    call INTEGER PRIMARY KEY, thread INTEGER REFERENCES threads, function TEXT, start_ns INTEGER,
    duration_ns INTEGER, result TEXT, failed INTEGER, injected INTEGER, inputs TEXT, outputs TEXT,
    command TEXT);
  CREATE TABLE objects (
    object TEXT PRIMARY KEY, kind TEXT, process INTEGER REFERENCES processes, value INTEGER,
    size_bytes INTEGER, created INTEGER, first_call INTEGER, released_by INTEGER, from_ns INTEGER,
    until_ns INTEGER);
  CREATE TABLE waits (
    call INTEGER REFERENCES calls, why TEXT, awaited_call INTEGER, event TEXT);
  CREATE TABLE call_usage (
    call INTEGER REFERENCES calls, unexplained_ns INTEGER, no_processor_ns INTEGER,
    behind_other_thread_ns INTEGER, page_faults_ns INTEGER, before_ns INTEGER,
    processor_ns INTEGER, run_delay_ns INTEGER, minor_faults INTEGER, major_faults INTEGER,
    voluntary_switches INTEGER, involuntary_switches INTEGER, other_run_delay_ns INTEGER,
    runnable_tasks INTEGER, processors INTEGER);
  CREATE TABLE device_times (
    call INTEGER REFERENCES calls, execution INTEGER REFERENCES calls, device INTEGER,
    start_ns INTEGER, duration_ns INTEGER, impossible INTEGER);
  CREATE TABLE memory (
    call INTEGER REFERENCES calls, address INTEGER, bytes INTEGER, flags INTEGER, blob TEXT);
  CREATE TABLE blobs (blob TEXT PRIMARY KEY, bytes INTEGER);
  BEGIN;
)";

constexpr const char* indexes = R"(
  CREATE INDEX calls_by_function ON calls (function);
  CREATE INDEX calls_by_duration ON calls (duration_ns);
  CREATE INDEX waits_by_call ON waits (call);
  CREATE INDEX waits_by_awaited ON waits (awaited_call);
  CREATE INDEX device_times_by_call ON device_times (call);
  COMMIT;
)";

std::string_view name_of(trace::process_state state) {
  switch (state) {
    case trace::process_state::ended:
      return "ended";
    case trace::process_state::cut_off:
      return "cut off";
    case trace::process_state::stopped:
      return "stopped";
  }
  return "";
}

std::optional<uint32_t> exit_status_of(const trace::process_end& end) {
  return end.kind == trace::end_kind::exited ? std::optional(end.status) : std::nullopt;
}

std::optional<std::string> signal_of(const trace::process_end& end) {
  if (end.kind != trace::end_kind::by_signal) return std::nullopt;
  return signal_name(static_cast<int>(end.status));
}

class exporter {
 public:
  exporter(const trace::trace_file& trace, sqlite_database& out) : trace_(trace), out_(out) {}

  void write_run() {
    const auto& run = trace_.run();
    const uint32_t version = trace_.model().version;
    sqlite_insert(out_, "INSERT INTO run VALUES (?, ?, ?)")
        .row(run.start_realtime_ns, trace_.calls(),
             fmt::format("{}.{}", version >> 16, version & 0xffff));
    sqlite_insert processes(out_, "INSERT INTO processes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    sqlite_insert facts(out_, "INSERT INTO facts VALUES (?, ?, ?)");
    for (uint32_t i = 0; i < run.processes.size(); ++i) {
      const auto& each = run.processes[i];
      processes.row(i + 1, each.process_id, each.parent_process_id, each.host, name_of(each.state),
                    each.stop_reason, each.lost_calls, exit_status_of(each.end),
                    signal_of(each.end), each.end.at_ns);
      for (const auto& [name, value] : each.facts) facts.row(i + 1, name, value);
      for (const auto& [name, value] : each.counters)
        facts.row(i + 1, name, fmt::format("{}", value));
    }
    sqlite_insert threads(out_, "INSERT INTO threads VALUES (?, ?, ?, ?)");
    for (uint32_t i = 0; i < run.threads.size(); ++i) {
      const auto& each = run.threads[i];
      threads.row(i + 1, each.process + 1, each.thread_id, each.name);
    }
  }

  void write_objects() {
    sqlite_insert objects(out_, "INSERT INTO objects VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    const auto all = trace_.objects().all();
    for (uint32_t i = 0; i < all.size(); ++i) {
      const auto& each = all[i];
      const auto name = trace_.objects().name(trace::object_id{i}, trace_.model());
      const bool is_memory = each.handle.handle_class == trace::memory_class;
      objects.row(name, name.substr(0, name.rfind('_')), each.handle.process + 1, each.handle.value,
                  is_memory ? std::optional(each.size_bytes) : std::nullopt, each.created,
                  number_of(each.first_call),
                  each.released_by ? std::optional(number_of(*each.released_by)) : std::nullopt,
                  each.from_ns, each.released_by ? std::optional(each.until_ns) : std::nullopt);
    }
  }

  void write_memory() {
    sqlite_insert memory(out_, "INSERT INTO memory VALUES (?, ?, ?, ?, ?)");
    const auto notes = trace_.memory_notes(trace::call_number{0}, trace::call_number{UINT64_MAX});
    if (notes)
      for (const auto& each : *notes)
        memory.row(number_of(each.call), each.address, each.bytes, uint32_t{each.flags},
                   trace::to_text(each.content));
    sqlite_insert blobs(out_, "INSERT INTO blobs VALUES (?, ?)");
    for (const auto& hash : trace_.blobs().all())
      blobs.row(trace::to_text(hash), trace_.blobs().size_of(hash));
  }

  void write_device_times() {
    sqlite_insert rows(out_, "INSERT INTO device_times VALUES (?, ?, ?, ?, ?, ?)");
    if (const auto times = trace_.device_times())
      for (const auto& each : *times)
        rows.row(number_of(each.call), number_of(each.execution), each.device, each.start_ns,
                 each.duration_ns, each.is_impossible());
  }

  export_report write_calls(const trace::call_filter& filter,
                            const std::function<void(uint64_t, uint64_t)>& progress) {
    const model::append_waits waits(trace_);
    const call_json json(trace_);
    sqlite_insert calls(out_, "INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    sqlite_insert wait_rows(out_, "INSERT INTO waits VALUES (?, ?, ?, ?)");
    sqlite_insert usage_rows(
        out_, "INSERT INTO call_usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    trace::call_usage_reader usage(trace_);
    export_report report;
    trace::call_reader reader(trace_);
    while (const trace::call* each = reader.next()) {
      if (progress && number_of(each->number) % rows_per_progress == 0)
        progress(number_of(each->number), trace_.calls());
      if (!filter.matches(*each)) continue;
      ++report.calls;
      write_call(*each, reader.arguments(), json, waits.command_name(each->number), calls);
      for (const auto& wait : waits.of(each->number)) write_wait(*each, wait, wait_rows);
      if (const auto* note = usage.find(each->number)) write_usage(*each, *note, usage_rows);
    }
    report.damage.assign(reader.damage().begin(), reader.damage().end());
    return report;
  }

 private:
  void write_call(const trace::call& each, trace::call_arguments arguments, const call_json& json,
                  const std::string& command, sqlite_insert& calls) {
    using optional_text = std::optional<std::string>;
    const bool returned = each.returned();
    calls.row(
        number_of(each.number), each.thread + 1, trace_.function(each).name, each.start_ns,
        returned ? std::optional(each.duration_ns) : std::nullopt,
        returned ? optional_text(print_result(trace_.model(), each.result)) : std::nullopt,
        each.failed(), each.injected(), json.inputs(each, arguments),
        arguments.outputs.empty() ? std::nullopt : optional_text(json.outputs(each, arguments)),
        command.empty() ? std::nullopt : optional_text(command));
  }

  static void write_usage(const trace::call& each, const trace::call_usage& note,
                          sqlite_insert& rows) {
    const auto time = model::explain_time(each.duration_ns, &note);
    rows.row(number_of(each.number), time.unexplained_ns(), time.no_processor_ns, time.behind_ns,
             time.faults_ns, note.before_ns, note.processor_ns,
             note.has_run_delay() ? std::optional(note.run_delay_ns) : std::nullopt,
             note.minor_faults, note.major_faults, note.voluntary_switches,
             note.involuntary_switches,
             note.has_others() ? std::optional(note.other_run_delay_ns) : std::nullopt,
             note.runnable_tasks, note.processors);
  }

  void write_wait(const trace::call& each, const model::awaited& wait, sqlite_insert& rows) {
    const bool known = wait.why != model::awaited::reason::nothing;
    rows.row(number_of(each.number), report::name_of(wait.why),
             known ? std::optional(number_of(wait.call)) : std::nullopt,
             wait.event ? std::optional(trace_.objects().name(*wait.event, trace_.model()))
                        : std::nullopt);
  }

  const trace::trace_file& trace_;
  sqlite_database& out_;
};

}  // namespace

result<export_report> export_sqlite(const trace::trace_file& trace,
                                    const trace::call_filter& filter,
                                    const std::filesystem::path& file,
                                    const std::function<void(uint64_t, uint64_t)>& progress) {
  unfinished_file unfinished(file.string());
  export_report report;
  try {
    sqlite_database database(unfinished.path());
    database.run(schema);
    exporter work(trace, database);
    work.write_run();
    work.write_objects();
    work.write_memory();
    work.write_device_times();
    report = work.write_calls(filter, progress);
    database.run(indexes);
  } catch (const std::runtime_error& error) {
    return fail("cannot write {}: {}", file.string(), error.what());
  }
  if (auto done = unfinished.finish(); !done) return tl::unexpected(done.error());
  return report;
}

}  // namespace zevent::report
