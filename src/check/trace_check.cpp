#include "check/trace_check.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <set>

#include "check/checker.hpp"
#include "model/trace_calls.hpp"

namespace zevent::check {
namespace {

using model::object_kind;

// What the headers call the handles of each kind.
constexpr std::array<std::pair<object_kind, std::string_view>, 12> handle_types = {{
    {object_kind::context, "ze_context_handle_t"},
    {object_kind::event_pool, "ze_event_pool_handle_t"},
    {object_kind::event, "ze_event_handle_t"},
    {object_kind::command_list, "ze_command_list_handle_t"},
    {object_kind::command_queue, "ze_command_queue_handle_t"},
    {object_kind::fence, "ze_fence_handle_t"},
    {object_kind::module, "ze_module_handle_t"},
    {object_kind::kernel, "ze_kernel_handle_t"},
    {object_kind::image, "ze_image_handle_t"},
    {object_kind::sampler, "ze_sampler_handle_t"},
    {object_kind::graph, "ze_graph_handle_t"},
    {object_kind::executable_graph, "ze_executable_graph_handle_t"},
}};

uint16_t class_of(const api::model& described, object_kind kind) {
  if (kind == object_kind::memory) return trace::memory_class;
  for (const auto& [each, type] : handle_types) {
    if (each != kind) continue;
    for (size_t i = 0; i < described.handles.size(); ++i) {
      if (described.handles[i].name == type) return static_cast<uint16_t>(i);
    }
  }
  return api::no_index;
}

// The threads of the driver run host functions; what is recorded on them comes from there.
std::set<uint32_t> callback_threads(const trace::run_info& run) {
  std::set<uint32_t> found;
  for (size_t i = 0; i < run.threads.size(); ++i) {
    if (run.threads[i].name.starts_with("zevent-")) found.insert(static_cast<uint32_t>(i));
  }
  return found;
}

// The processes whose driver is of that name.
std::set<uint32_t> driven_by(const trace::run_info& run, std::string_view library) {
  std::set<uint32_t> found;
  for (size_t i = 0; i < run.processes.size(); ++i) {
    const auto driver = run.processes[i].fact("driver");
    if (driver.find(library) != std::string::npos) found.insert(static_cast<uint32_t>(i));
  }
  return found;
}

// Chaos delays calls on purpose.
std::set<uint32_t> under_chaos(const trace::run_info& run) {
  constexpr std::string_view variable = "ZEVENT_CHAOS=";
  std::set<uint32_t> found;
  for (size_t i = 0; i < run.processes.size(); ++i) {
    const std::string environment = run.processes[i].fact("environment");
    for (size_t at = 0; at < environment.size(); at = environment.find('\0', at) + 1) {
      const std::string_view entry = environment.c_str() + at;
      if (entry.starts_with(variable) && entry.size() > variable.size())
        found.insert(static_cast<uint32_t>(i));
      if (environment.find('\0', at) == std::string::npos) break;
    }
  }
  return found;
}

void leave_out_durations(const std::set<uint32_t>& processes, check_result& out) {
  const auto left_out = std::erase_if(out.findings, [&](const finding& each) {
    return (each.rule == ev(70) || each.rule == ev(71)) && processes.contains(each.process);
  });
  if (left_out > 0)
    out.notes.emplace_back("how long calls took under chaos is not judged (EV-70, EV-71)");
}

std::map<uint32_t, state_kinds> unknown_effects(const trace::run_info& run) {
  std::map<uint32_t, state_kinds> found;
  for (uint32_t i = 0; i < run.processes.size(); ++i)
    found[i] = state_changed_by(run.processes[i].functions_passed_through());
  return found;
}

// "zeFoo and 2 others".
std::string names_of(const std::vector<trace::passed_through>& functions) {
  std::string first;
  size_t others = 0;
  for (const auto& each : functions) {
    if (each.calls == 0 || state_changed_by(each.name) == 0) continue;
    if (first.empty())
      first = each.name;
    else
      ++others;
  }
  if (others == 0) return first;
  return fmt::format("{} and {} other{}", first, others, others == 1 ? "" : "s");
}

void say_what_is_not_judged(const trace::run_info& run, const checker& judge, check_result& out) {
  for (uint32_t i = 0; i < run.processes.size(); ++i) {
    const auto unknown = judge.unknown_in(i);
    if (unknown == 0) continue;
    const auto& process = run.processes[i];
    const auto names = names_of(process.functions_passed_through());
    out.notes.push_back(fmt::format(
        "process {}: what {} did is not known; not judged where that matters: {}",
        process.process_id,
        names.empty() ? std::string("commands that come from elsewhere") : "calls of " + names,
        rules_silenced_by(unknown)));
  }
}

// Gives the memory notes of calls that are asked for in order.
class note_cursor {
 public:
  explicit note_cursor(const trace::trace_file& trace) : trace_(trace) {}

  std::span<const trace::memory_note> of(model::call_number call) {
    const uint64_t number = trace::number_of(call);
    if (number >= end_) load(number);
    while (next_ < notes_.size() && notes_[next_].call < call) ++next_;
    const size_t first = next_;
    while (next_ < notes_.size() && notes_[next_].call == call) ++next_;
    return std::span(notes_).subspan(first, next_ - first);
  }

 private:
  static constexpr uint64_t window = 65536;  // calls

  void load(uint64_t from) {
    end_ = from + window;
    next_ = 0;
    notes_.clear();
    auto read = trace_.memory_notes(model::call_number{from}, model::call_number{end_ - 1});
    if (read) notes_ = std::move(*read);
  }

  const trace::trace_file& trace_;
  uint64_t end_ = 0;
  std::vector<trace::memory_note> notes_;
  size_t next_ = 0;
};

}  // namespace

object_namer names_of(const trace::trace_file& trace) {
  return [&trace](uint32_t process, object_kind kind, uint64_t handle, uint64_t time_ns) {
    const auto& objects = trace.objects();
    const auto found =
        kind == object_kind::memory
            ? objects.find_memory(process, handle, time_ns)
            : objects.find({process, class_of(trace.model(), kind), handle}, time_ns);
    if (found) return objects.name(*found, trace.model());
    return fmt::format("{} {:#x}", name_of(kind), handle);
  };
}

check_result check_trace(const trace::trace_file& trace, const check_options& options,
                         const std::function<void(uint64_t, uint64_t)>& progress) {
  check_result out;
  trace::call_usage_reader usage(trace);
  checker judge(
      names_of(trace), options,
      [&](const trace::blob_hash& hash) -> std::optional<std::vector<std::byte>> {
        auto content = trace.read_blob(hash);
        if (!content) return std::nullopt;
        return std::move(*content);
      },
      [&](model::call_number call) { return usage.find(call); });
  judge.set_callback_threads(callback_threads(trace.run()));
  // The software driver keeps the addresses of its memory for itself.
  judge.set_address_keepers(driven_by(trace.run(), "libze_zevent.so"));
  judge.set_intel_driven(driven_by(trace.run(), "libze_intel_gpu"));
  judge.set_unknown_effects(unknown_effects(trace.run()));
  model::trace_calls calls(trace);
  note_cursor notes(trace);
  while (const auto* call = calls.next()) {
    judge.add(*call, calls.next_start_ns(), notes.of(call->number));
    ++out.calls;
    if (progress && (out.calls & 0xffff) == 0) progress(out.calls, trace.calls());
  }

  std::set<uint32_t> incomplete, cut_off, crashed;
  const auto& processes = trace.run().processes;
  for (uint32_t i = 0; i < processes.size(); ++i) {
    const auto& each = processes[i];
    if (each.end.is_crash()) {
      crashed.insert(i);
      out.notes.push_back(fmt::format("process {} was {}", each.process_id, to_text(each.end)));
    } else if (each.state == trace::process_state::cut_off && !each.end.is_orderly()) {
      cut_off.insert(i);
    }
    if (each.lost_calls == 0 && each.state != trace::process_state::stopped) continue;
    incomplete.insert(i);
    out.notes.push_back(fmt::format(
        "process {}: {} of its calls are not in the trace; what it waited for at the end is not "
        "judged",
        each.process_id, each.lost_calls == 0 ? "some" : std::to_string(each.lost_calls)));
  }
  if (calls.missing_blocks() > 0) {
    out.notes.push_back(fmt::format(
        "{} blocks of calls are damaged and were left out; what was waited for at the end is not "
        "judged",
        calls.missing_blocks()));
    for (uint32_t i = 0; i < processes.size(); ++i) incomplete.insert(i);
  }
  if (!trace.damage().empty()) {
    out.notes.emplace_back(
        "the trace is damaged or was cut; what was waited for at its end is not judged");
    for (uint32_t i = 0; i < processes.size(); ++i) incomplete.insert(i);
  }
  if (calls.unreadable() > 0)
    out.notes.push_back(
        fmt::format("the arguments of {} calls cannot be read", calls.unreadable()));
  out.findings = judge.finish(incomplete, cut_off, crashed);
  say_what_is_not_judged(trace.run(), judge, out);
  leave_out_durations(under_chaos(trace.run()), out);
  return out;
}

}  // namespace zevent::check
