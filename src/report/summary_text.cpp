#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/terminal.hpp"
#include "report/call_text.hpp"
#include "report/device_output.hpp"
#include "report/duration_text.hpp"
#include "report/recorded_driver.hpp"
#include "report/summary_output.hpp"

namespace zevent::report {
namespace {

std::string counted(uint64_t number, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", number, number == 1 ? one : many);
}

class summary_printer {
 public:
  summary_printer(const trace::trace_file& trace, const trace_summary& summary,
                  const summary_style& style, text_output& out)
      : trace_(trace), summary_(summary), style_(style), out_(out) {}

  void print() {
    head();
    if (summary_.device) device();
    functions();
    slowest();
    copies();
    events();
    threads();
    out_.flush();
  }

 private:
  void heading(std::string_view text) {
    out_.line("");
    out_.line(paint(text, colour::bold, style_.coloured));
  }

  // Names that begin alike are told apart by their ends.
  static std::string shortened(std::string_view name, size_t width) {
    if (name.size() <= width) return std::string(name);
    const size_t end = width / 2;
    return fmt::format("{}…{}", name.substr(0, width - end - 1), name.substr(name.size() - end));
  }

  // Cuts at a character, and says that it did.
  std::string fitted(std::string line) const {
    if (style_.columns == 0) return line;
    size_t columns = 0;
    for (size_t i = 0; i < line.size(); ++i) {
      const bool begins = (static_cast<unsigned char>(line[i]) & 0xc0) != 0x80;
      if (begins && ++columns > style_.columns - 1) return line.substr(0, i) + "…";
    }
    return line;
  }

  void head() {
    const auto what = fmt::format("{}: {} by {} of {} in {}", style_.title,
                                  counted(summary_.calls, "call", "calls"),
                                  counted(trace_.run().threads.size(), "thread", "threads"),
                                  counted(trace_.run().processes.size(), "process", "processes"),
                                  duration_text(summary_.duration_ns));
    const auto faults =
        fmt::format("{} failed, {} did not return", summary_.failed, summary_.unreturned);
    if (style_.columns == 0 || what.size() + 2 + faults.size() <= style_.columns) {
      out_.line(what + "; " + faults);
    } else {
      out_.line(fitted(what));
      out_.line(faults);
    }
    if (summary_.injected != 0)
      out_.line(fmt::format("{} made by a tool are not counted",
                            counted(summary_.injected, "call", "calls")));
  }

  void device() {
    for (const auto& table : device_tables(*summary_.device)) {
      heading(fitted(table.heading));
      for (const auto& line : table.lines) out_.line(fitted(line));
    }
  }

  // A column of the table of functions; on a narrow terminal those that matter least are left out.
  struct time_column {
    std::string_view name;
    size_t first_to_go;
    uint64_t (*value_ns)(const latency_histogram&);
  };
  static constexpr size_t time_width = 10;
  static constexpr size_t counts_width = 18;  // calls and failed
  static constexpr size_t least_name_width = 20;

  std::vector<time_column> shown_times(size_t name_width) const {
    std::vector<time_column> columns = {
        {"total", 5, [](const latency_histogram& t) { return t.total_ns(); }},
        {"mean", 2, [](const latency_histogram& t) { return t.mean_ns(); }},
        {"p50", 1, [](const latency_histogram& t) { return t.percentile_ns(50); }},
        {"p99", 3, [](const latency_histogram& t) { return t.percentile_ns(99); }},
        {"max", 4, [](const latency_histogram& t) { return t.most_ns(); }},
    };
    if (style_.columns == 0) return columns;
    for (size_t gone = 1; gone <= columns.size() && columns.size() > 2; ++gone)
      if (name_width + counts_width + time_width * columns.size() > style_.columns)
        std::erase_if(columns, [&](const time_column& c) { return c.first_to_go == gone; });
    return columns;
  }

  void functions() {
    size_t widest = 8;
    for (const auto& row : summary_.functions)
      widest = std::max(widest, trace_.model().functions[row.function].name.size());
    const auto times = shown_times(widest);
    const size_t others = counts_width + time_width * times.size();
    if (style_.columns != 0 && widest + others > style_.columns)
      widest =
          style_.columns > others + least_name_width ? style_.columns - others : least_name_width;
    std::string titles = fmt::format("{:<{}} {:>9} {:>7}", "function", widest, "calls", "failed");
    for (const auto& column : times) titles += fmt::format(" {:>9}", column.name);
    heading(titles);
    for (const auto& row : summary_.functions) {
      const auto failed = fmt::format("{:>7}", row.failed);
      auto line = fmt::format(
          "{:<{}} {:>9} {}", shortened(trace_.model().functions[row.function].name, widest), widest,
          row.calls, paint(failed, row.failed == 0 ? colour::plain : colour::red, style_.coloured));
      for (const auto& column : times)
        line += fmt::format(" {:>9}", duration_text(column.value_ns(row.durations)));
      out_.line(line);
    }
  }

  void slowest() {
    if (summary_.slowest.empty()) return;
    heading("slowest calls");
    const call_text text(trace_, {});
    const std::string indentation(text.indentation() + 2, ' ');
    for (const auto& each : summary_.slowest) {
      trace::call_reader reader(trace_, each.number);
      if (reader.next() == nullptr) continue;
      out_.line(fitted(text.line(each, reader.arguments())));
      if (each.time.explained_ns() != 0) out_.line(fitted(indentation + time_text(each.time)));
    }
  }

  void copies() {
    if (summary_.copies.empty()) return;
    heading(fmt::format("{:<22} {:>9} {:>9}", "copies", "commands", "bytes"));
    for (const auto& [kind, count] : summary_.copies)
      out_.line(fmt::format("{:<22} {:>9} {:>9}", kind, count.commands, bytes_text(count.bytes)));
  }

  void events() {
    const auto& events = summary_.events;
    heading("events");
    out_.line(
        fmt::format("{} created, at most {} alive at once", events.created, events.most_alive));
    out_.line(fmt::format("{}, {} blocked in them", counted(events.waits, "wait", "waits"),
                          duration_text(events.blocked_ns)));
    if (events.polls == 0)
      out_.line("0 polls");
    else if (events.polls_ready == 0)
      out_.line(fmt::format("{}, none of them found its event ready",
                            counted(events.polls, "poll", "polls")));
    else
      out_.line(
          fmt::format("{}, {:.1f} for each success", counted(events.polls, "poll", "polls"),
                      static_cast<double>(events.polls) / static_cast<double>(events.polls_ready)));
    out_.line(fmt::format("{} in all functions that wait", duration_text(summary_.waiting_ns)));
  }

  void threads() {
    std::vector<std::string> names;
    size_t widest = 28;
    for (const auto& row : summary_.threads) {
      const auto& thread = trace_.run().threads[row.thread];
      names.push_back(fmt::format("P{} T{} {} ({})", thread.process + 1, row.thread + 1,
                                  thread.name, thread.thread_id));
      widest = std::max(widest, names.back().size());
    }
    heading(
        fmt::format("{:<{}} {:>9} {:>7} {:>9}", "threads", widest, "calls", "failed", "in calls"));
    for (size_t i = 0; i < names.size(); ++i) {
      const auto& row = summary_.threads[i];
      out_.line(fmt::format("{:<{}} {:>9} {:>7} {:>9}", names[i], widest, row.calls, row.failed,
                            duration_text(row.in_calls_ns)));
    }
    heading("processes");
    for (size_t i = 0; i < trace_.run().processes.size(); ++i) process_line(i);
  }

  void process_line(size_t index) {
    const auto& process = trace_.run().processes[index];
    uint64_t calls = 0, in_calls_ns = 0;
    for (const auto& row : summary_.threads) {
      if (trace_.run().threads[row.thread].process != index) continue;
      calls += row.calls;
      in_calls_ns += row.in_calls_ns;
    }
    // What went wrong stands where a narrow terminal does not cut it off.
    const auto end =
        process.end.is_uneventful() ? std::string() : fmt::format(", {}", to_text(process.end));
    auto text =
        fmt::format("P{} {} on {}{}: {}, {} in them", index + 1, process.process_id, process.host,
                    end, counted(calls, "call", "calls"), duration_text(in_calls_ns));
    if (const auto rank = process.fact("mpi rank"); !rank.empty())
      text += fmt::format(", MPI rank {}", rank);
    if (const auto program = process.fact("executable"); !program.empty())
      text += fmt::format(", {}", program);
    if (process.lost_calls != 0) text += fmt::format(", {} lost", process.lost_calls);
    out_.line(fitted(text));
    if (const auto driver = describe_driver(process); !driver.empty())
      out_.line(fitted("   on " + driver));
    for (const auto& each : process.functions_passed_through()) {
      // Entries of tables are handed out all at once, whether the program wants them or not.
      if (each.calls == 0 && each.name.starts_with("slot ")) continue;
      out_.line(fitted(fmt::format("   not recorded: {}, {}", each.name,
                                   each.calls == 0 ? std::string("handed out and not called")
                                                   : counted(each.calls, "call", "calls"))));
    }
  }

  const trace::trace_file& trace_;
  const trace_summary& summary_;
  const summary_style& style_;
  text_output& out_;
};

}  // namespace

void write_summary_text(const trace::trace_file& trace, const trace_summary& summary,
                        const summary_style& style, text_output& out) {
  summary_printer(trace, summary, style, out).print();
}

}  // namespace zevent::report
