#include "base/signal_name.hpp"
#include "report/call_json.hpp"
#include "report/device_output.hpp"
#include "report/json_writer.hpp"
#include "report/summary_output.hpp"

namespace zevent::report {
namespace {

void write_functions(const trace::trace_file& trace, const trace_summary& summary,
                     json_writer& out) {
  out.key("functions");
  out.begin_array();
  for (const auto& row : summary.functions) {
    const auto& times = row.durations;
    out.begin_object();
    out.member("function", trace.model().functions[row.function].name);
    out.member("calls", row.calls);
    out.member("failed", row.failed);
    out.member("unreturned", row.unreturned);
    out.member("total_ns", times.total_ns());
    out.member("mean_ns", times.mean_ns());
    out.member("min_ns", times.least_ns());
    out.member("p50_ns", times.percentile_ns(50));
    out.member("p99_ns", times.percentile_ns(99));
    out.member("max_ns", times.most_ns());
    out.end_object();
  }
  out.end_array();
}

void write_slowest(const trace::trace_file& trace, const trace_summary& summary, json_writer& out) {
  out.key("slowest");
  out.begin_array();
  for (const auto& each : summary.slowest) {
    out.begin_object();
    out.member("call", number_of(each.number));
    out.member("thread", each.thread + 1);
    out.member("function", trace.function(each).name);
    out.member("start_ns", each.start_ns);
    out.member("duration_ns", each.duration_ns);
    out.member("unexplained_ns", each.time.unexplained_ns());
    if (each.time.has_note) {
      out.member("no_processor_ns", each.time.no_processor_ns);
      out.member("behind_other_thread_ns", each.time.behind_ns);
      out.member("page_faults_ns", each.time.faults_ns);
    }
    out.end_object();
  }
  out.end_array();
}

void write_events(const event_summary& events, json_writer& out) {
  out.key("events");
  out.begin_object();
  out.member("created", events.created);
  out.member("most_alive", events.most_alive);
  out.member("waits", events.waits);
  out.member("blocked_ns", events.blocked_ns);
  out.member("polls", events.polls);
  out.member("polls_ready", events.polls_ready);
  out.end_object();
}

void write_places(const trace::trace_file& trace, const trace_summary& summary, json_writer& out) {
  out.key("threads");
  out.begin_array();
  for (const auto& row : summary.threads) {
    const auto& thread = trace.run().threads[row.thread];
    out.begin_object();
    out.member("thread", row.thread + 1);
    out.member("process", thread.process + 1);
    out.member("thread_id", thread.thread_id);
    out.member("name", thread.name);
    out.member("calls", row.calls);
    out.member("failed", row.failed);
    out.member("in_calls_ns", row.in_calls_ns);
    out.end_object();
  }
  out.end_array();
  out.key("processes");
  out.begin_array();
  for (size_t i = 0; i < trace.run().processes.size(); ++i) {
    const auto& process = trace.run().processes[i];
    out.begin_object();
    out.member("process", uint64_t{i + 1});
    out.member("process_id", process.process_id);
    out.member("host", process.host);
    out.member("executable", process.fact("executable"));
    out.member("driver", process.fact("driver"));
    if (const auto version = process.fact("driver version"); !version.empty())
      out.member("driver_version", version);
    if (const auto device = process.fact("device 0"); !device.empty()) {
      out.key("devices");
      out.begin_array();
      for (size_t k = 0; !process.fact(fmt::format("device {}", k)).empty(); ++k)
        out.string(process.fact(fmt::format("device {}", k)));
      out.end_array();
    }
    out.member("lost_calls", process.lost_calls);
    if (const auto passed = process.functions_passed_through(); !passed.empty()) {
      out.key("not_recorded");
      out.begin_array();
      for (const auto& each : passed) {
        out.begin_object();
        out.member("function", each.name);
        out.member("calls", each.calls);
        out.end_object();
      }
      out.end_array();
    }
    if (process.end.kind == trace::end_kind::exited) out.member("exit_status", process.end.status);
    if (process.end.kind == trace::end_kind::by_signal)
      out.member("signal", signal_name(static_cast<int>(process.end.status)));
    if (process.end.at_ns) out.member("ended_ns", *process.end.at_ns);
    if (const auto rank = process.fact("mpi rank"); !rank.empty()) out.member("mpi_rank", rank);
    out.end_object();
  }
  out.end_array();
}

}  // namespace

void write_summary_json(const trace::trace_file& trace, const trace_summary& summary,
                        text_output& output) {
  std::string text;
  json_writer out(text);
  out.begin_object();
  out.member("calls", summary.calls);
  out.member("failed", summary.failed);
  out.member("unreturned", summary.unreturned);
  out.member("injected", summary.injected);
  out.member("duration_ns", summary.duration_ns);
  out.member("waiting_ns", summary.waiting_ns);
  if (summary.device) write_device_json(*summary.device, out);
  write_functions(trace, summary, out);
  write_slowest(trace, summary, out);
  out.key("copies");
  out.begin_array();
  for (const auto& [kind, count] : summary.copies) {
    out.begin_object();
    out.member("kind", kind);
    out.member("commands", count.commands);
    out.member("bytes", count.bytes);
    out.end_object();
  }
  out.end_array();
  write_events(summary.events, out);
  write_places(trace, summary, out);
  out.end_object();
  output.line(text);
  output.flush();
}

}  // namespace zevent::report
