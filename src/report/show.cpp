#include "report/show.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/terminal.hpp"
#include "model/append_waits.hpp"
#include "report/call_json.hpp"

namespace zevent::report {
namespace {

using reason = model::awaited::reason;

// "waits for #218 launch add (event_3)".
std::string wait_text(const trace::trace_file& trace, const model::append_waits& waits,
                      const model::awaited& wait, bool by_command) {
  const auto event = wait.event ? trace.objects().name(*wait.event, trace.model()) : std::string();
  const auto command = waits.command_name(wait.call);
  const auto call =
      fmt::format("#{}{}{}", number_of(wait.call), command.empty() ? "" : " ", command);
  const auto verb = by_command ? "waits for" : "signalled by";
  switch (wait.why) {
    case reason::signal:
      return fmt::format("{} {} ({})", verb, call, event);
    case reason::host_signal:
      return fmt::format("{} the host, {} ({})", verb, call, event);
    case reason::later_signal:
      return fmt::format("{} {}, appended later ({})", verb, call, event);
    case reason::nothing:
      return fmt::format("{} {}, which nothing signals here", by_command ? "waits for" : "asks for",
                         event);
    case reason::in_order:
      return fmt::format("comes after {} (in-order list)", call);
  }
  return {};
}

// Processes, in the order of their ends.
std::vector<uint32_t> ended_by_signals(const trace::run_info& run) {
  std::vector<uint32_t> ended;
  for (uint32_t i = 0; i < run.processes.size(); ++i)
    if (run.processes[i].end.kind == trace::end_kind::by_signal) ended.push_back(i);
  std::stable_sort(ended.begin(), ended.end(), [&](uint32_t a, uint32_t b) {
    return run.processes[a].end.at_ns < run.processes[b].end.at_ns;
  });
  return ended;
}

}  // namespace

std::vector<trace::file_damage> show(const trace::trace_file& trace,
                                     const trace::call_filter& filter, const show_options& options,
                                     text_output& out) {
  std::optional<model::append_waits> waits;
  if (options.waits) waits.emplace(trace, options.progress);
  const call_text text(trace, {options.coloured, options.handles});
  std::vector<trace::device_time> times;
  if (options.json)
    if (auto read = trace.device_times()) times = std::move(*read);
  const call_json json(trace, options.handles, waits ? &*waits : nullptr, times);
  trace::call_usage_reader usage(trace);
  const std::string indentation(text.indentation() + 4, ' ');

  const auto range = filter.numbers();
  trace::call_reader reader(trace, trace::call_number{range.first});
  while (const trace::call* each = reader.next()) {
    if (number_of(each->number) > range.last) break;
    if (!filter.matches(*each) || (each->injected() && !options.injected)) continue;
    const auto arguments = reader.arguments();
    if (options.json) {
      out.line(json.object(*each, arguments));
      continue;
    }
    out.line(text.line(*each, arguments));
    if (options.usage)
      if (const auto* note = usage.find(each->number))
        out.line(indentation + paint(time_text(model::explain_time(each->duration_ns, note)),
                                     colour::cyan, options.coloured));
    if (!waits) continue;
    const bool by_command = !waits->command_name(each->number).empty();
    for (const auto& wait : waits->of(each->number))
      out.line(indentation +
               paint(wait_text(trace, *waits, wait, by_command), colour::cyan, options.coloured));
  }
  if (!options.json && filter.is_empty()) {
    for (const uint32_t each : ended_by_signals(trace.run())) out.line(text.end_line(each));
  }
  out.flush();
  return {reader.damage().begin(), reader.damage().end()};
}

}  // namespace zevent::report
