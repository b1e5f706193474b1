#include "replay/recorded_call.hpp"

#include <algorithm>

#include "api/call_codec.hpp"
#include "model/symptom_search.hpp"

namespace zevent::replay {
namespace {

// Notes are read for so many calls at a time.
constexpr uint64_t notes_stretch = 65536;

std::string missing_calls(uint64_t first, uint64_t until) {
  return fmt::format(
      "the trace is damaged: calls {} to {} cannot be read; what comes before them can be had with "
      "--until {}",
      first, until - 1, first == 0 ? 0 : first - 1);
}

uint64_t end_of(const trace::trace_file& trace, uint64_t last) {
  if (last >= trace.calls()) return UINT64_MAX;
  uint64_t end_ns = UINT64_MAX;
  trace::call_reader reader(trace);
  while (const trace::call* call = reader.next()) {
    if (trace::number_of(call->number) > last) return end_ns;
    end_ns = call->returned() ? call->end_ns() : UINT64_MAX;
  }
  return UINT64_MAX;
}

uint32_t first_thread_of(const trace::run_info& run, uint32_t process) {
  const auto found =
      std::find_if(run.threads.begin(), run.threads.end(),
                   [&](const trace::thread_info& each) { return each.process == process; });
  return static_cast<uint32_t>(found - run.threads.begin());
}

bool blocks(const trace::call& call, const api::function& function) {
  return call.duration_ns > model::blocking_ns ||
         function.name.find("Synchronize") != std::string_view::npos;
}

}  // namespace

bool may_be_devices(const trace::memory_note& note) {
  return (note.flags & recording::memory_may_be_devices) != 0;
}

bool is_after_call(const trace::memory_note& note) {
  return (note.flags & recording::memory_is_after_call) != 0;
}

bool is_copied(const trace::memory_note& note) {
  return (note.flags & recording::memory_is_copied) != 0;
}

uint64_t recorded_call::time_of(const trace::memory_note& note) const {
  return is_after_call(note) ? call.end_ns() : call.start_ns;
}

recorded_calls::recorded_calls(const trace::trace_file& trace, call_selection selection)
    : trace_(trace),
      selection_(selection),
      inherits_(find_inheritance(trace, selection.process, selection.last)),
      line_(trace.run(), selection.process),
      first_thread_(first_thread_of(trace.run(), selection.process)),
      reader_(trace),
      end_ns_(end_of(trace, selection.last)) {}

bool recorded_calls::is_inherited(const trace::call& call, uint32_t process) const {
  if (inherits_ == inheritance::nothing || !line_.includes(process, call)) return false;
  return inherits_ == inheritance::everything ||
         (is_initialisation(trace_.function(call)) && !call.failed());
}

result<const recorded_call*> recorded_calls::next() {
  while (const trace::call* call = reader_.next()) {
    const uint64_t number = trace::number_of(call->number);
    if (expected_ > selection_.last) return nullptr;
    if (number != expected_) return fail("{}", missing_calls(expected_, number));
    ++expected_;
    if (number > selection_.last) return nullptr;
    if (call->injected()) continue;
    const uint32_t process = trace_.process_of(*call);
    const bool is_own = process == selection_.process;
    if (!is_own && !is_inherited(*call, process)) continue;
    if (skipped_++ < selection_.skipped) continue;
    if (call->returned() && call->end_ns() > end_ns_ && blocks(*call, trace_.function(*call))) {
      open_calls_.push_back(number);
      continue;
    }
    current_.call = *call;
    current_.is_inherited = !is_own;
    if (auto done = decode(); !done) return tl::unexpected(done.error());
    if (auto done = find_memory(); !done) return tl::unexpected(done.error());
    if (!is_own) current_.call.thread = first_thread_;
    return &current_;
  }
  if (expected_ < trace_.calls() && expected_ <= selection_.last)
    return fail("{}", missing_calls(expected_, trace_.calls()));
  return nullptr;
}

result<void> recorded_calls::decode() {
  const auto arguments = reader_.arguments();
  current_.function = &trace_.function(current_.call);
  auto inputs = api::decode_inputs(trace_.model(), *current_.function, arguments.inputs);
  if (!inputs) return fail("call {}: {}", current_.number(), inputs.error().message);
  auto outputs = api::decode_outputs(trace_.model(), *current_.function, arguments.outputs);
  if (!outputs) return fail("call {}: {}", current_.number(), outputs.error().message);
  current_.inputs = std::move(*inputs);
  current_.outputs = std::move(*outputs);
  return {};
}

result<void> recorded_calls::find_memory() {
  const uint64_t number = current_.number();
  current_.memory.clear();
  if (number >= notes_end_) {
    const uint64_t end = number + notes_stretch;
    auto notes = trace_.memory_notes(current_.call.number, trace::call_number{end - 1});
    if (!notes) return fail("call {}: {}", number, notes.error().message);
    notes_ = std::move(*notes);
    notes_end_ = end;
    next_note_ = 0;
  }
  const auto number_at = [&](size_t i) { return trace::number_of(notes_[i].call); };
  while (next_note_ < notes_.size() && number_at(next_note_) < number) ++next_note_;
  for (; next_note_ < notes_.size() && number_at(next_note_) == number; ++next_note_) {
    const auto& note = notes_[next_note_];
    if ((note.flags & recording::memory_is_snapshot) == 0) current_.memory.push_back(note);
  }
  return {};
}

result<std::vector<uint32_t>> processes_with_calls(const trace::trace_file& trace, uint64_t last) {
  std::vector<bool> made_any(trace.run().processes.size());
  trace::call_reader reader(trace);
  while (const auto* call = reader.next()) {
    if (trace::number_of(call->number) > last) break;
    if (!call->injected()) made_any[trace.process_of(*call)] = true;
  }
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < made_any.size(); ++i)
    if (made_any[i]) out.push_back(i);
  if (out.empty()) return fail("there are no calls in this trace");
  return out;
}

result<uint32_t> only_process(const trace::trace_file& trace) {
  const auto& run = trace.run();
  std::vector<uint64_t> calls(run.processes.size());
  trace::call_reader reader(trace);
  while (const auto* call = reader.next()) ++calls[trace.process_of(*call)];
  const auto busy = std::count_if(calls.begin(), calls.end(), [](uint64_t n) { return n != 0; });
  if (busy == 0) return fail("there are no calls in this trace");
  if (busy == 1)
    return static_cast<uint32_t>(
        std::find_if(calls.begin(), calls.end(), [](uint64_t n) { return n != 0; }) -
        calls.begin());
  std::string list;
  for (size_t i = 0; i < calls.size(); ++i)
    if (calls[i] != 0)
      list +=
          fmt::format("\n  --process {}   {} (pid {}), {} calls", i + 1,
                      run.processes[i].fact("executable"), run.processes[i].process_id, calls[i]);
  return fail("calls were made by {} processes; choose one:{}", busy, list);
}

}  // namespace zevent::replay
