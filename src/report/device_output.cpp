#include "report/device_output.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/duration_text.hpp"

namespace zevent::report {
namespace {

constexpr size_t widest_name = 40;

std::string shortened(const std::string& name) {
  std::string text = name;
  if (text.size() > widest_name) text.replace(widest_name - 3, text.npos, "...");
  return text;
}

size_t width_of(const std::vector<device_work>& works) {
  size_t widest = 12;
  for (const auto& each : works) widest = std::max(widest, shortened(each.name).size());
  return widest;
}

std::string bandwidth_text(const device_work& work) {
  if (work.bytes == 0) return "";
  return fmt::format("{:.2f} GB/s", work.bytes_per_second() / 1e9);
}

text_table times(const device_summary& device) {
  const size_t width = width_of(device.works);
  text_table table;
  table.heading =
      fmt::format("{:<{}} {:>8} {:>9} {:>9} {:>9} {:>9} {:>10} {:>12}", "device time", width,
                  "commands", "total", "mean", "p50", "p99", "bytes", "bandwidth");
  for (const auto& each : device.works)
    table.lines.push_back(fmt::format(
        "{:<{}} {:>8} {:>9} {:>9} {:>9} {:>9} {:>10} {:>12}", shortened(each.name), width,
        each.durations.count(), duration_text(each.durations.total_ns()),
        duration_text(each.durations.mean_ns()), duration_text(each.durations.percentile_ns(50)),
        duration_text(each.durations.percentile_ns(99)),
        each.bytes != 0 ? bytes_text(each.bytes) : "", bandwidth_text(each)));
  if (device.untimed != 0)
    table.lines.push_back(
        fmt::format("{} more could not be timed: docs/profiling.md says why", device.untimed));
  if (device.impossible != 0)
    table.lines.push_back(fmt::format("{} more have times that cannot be right, and are left out",
                                      device.impossible));
  return table;
}

text_table lives(const device_summary& device) {
  const size_t width = width_of(device.works);
  text_table table;
  table.heading = fmt::format("{:<{}} {:>16} {:>16} {:>16}", "mean life of a command", width,
                              "append->submit", "submit->start", "start->end");
  for (const auto& each : device.works) {
    const uint64_t count = each.durations.count();
    table.lines.push_back(fmt::format("{:<{}} {:>16} {:>16} {:>16}", shortened(each.name), width,
                                      duration_text(each.append_to_submit_ns / count),
                                      duration_text(each.submit_to_start_ns / count),
                                      duration_text(each.durations.mean_ns())));
  }
  return table;
}

text_table queues(const device_summary& device) {
  text_table table;
  table.heading = fmt::format("{:<24} {:>8} {:>9} {:>9} {:>8} {:>11}", "queues", "commands", "busy",
                              "idle", "gaps", "longest gap");
  for (const auto& each : device.queues)
    table.lines.push_back(fmt::format("{:<24} {:>8} {:>9} {:>9} {:>8} {:>11}", each.name,
                                      each.commands, duration_text(each.busy_ns),
                                      duration_text(each.idle_ns), each.gaps,
                                      duration_text(each.longest_gap_ns)));
  return table;
}

}  // namespace

std::vector<text_table> device_tables(const device_summary& device) {
  return {times(device), lives(device), queues(device)};
}

void write_device_json(const device_summary& device, json_writer& out) {
  out.key("device");
  out.begin_object();
  out.member("commands", device.commands);
  out.member("untimed", device.untimed);
  out.member("impossible", device.impossible);
  out.key("works");
  out.begin_array();
  for (const auto& each : device.works) {
    out.begin_object();
    out.member("name", each.name);
    out.member("commands", each.durations.count());
    out.member("total_ns", each.durations.total_ns());
    out.member("mean_ns", each.durations.mean_ns());
    out.member("min_ns", each.durations.least_ns());
    out.member("p50_ns", each.durations.percentile_ns(50));
    out.member("p99_ns", each.durations.percentile_ns(99));
    out.member("max_ns", each.durations.most_ns());
    out.member("bytes", each.bytes);
    out.member("bytes_per_second", each.bytes_per_second());
    out.member("append_to_submit_ns", each.append_to_submit_ns);
    out.member("submit_to_start_ns", each.submit_to_start_ns);
    out.end_object();
  }
  out.end_array();
  out.key("queues");
  out.begin_array();
  for (const auto& each : device.queues) {
    out.begin_object();
    out.member("queue", each.name);
    out.member("commands", each.commands);
    out.member("busy_ns", each.busy_ns);
    out.member("idle_ns", each.idle_ns);
    out.member("gaps", each.gaps);
    out.member("longest_gap_ns", each.longest_gap_ns);
    out.end_object();
  }
  out.end_array();
  out.end_object();
}

}  // namespace zevent::report
