#include "replay/hang_report.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "api/print.hpp"
#include "replay/comparison.hpp"

namespace zevent::replay {
namespace {

using api::value;
using api::value_form;

// More than these are counted only.
constexpr size_t most_signallers = 4;

using handle = std::pair<uint16_t, uint64_t>;  // class and value

void collect_handles(const value* v, std::vector<handle>& out) {
  if (v == nullptr) return;
  const bool is_handle = v->declared != nullptr && v->declared->kind == api::type_kind::handle;
  if (is_handle && v->form == value_form::scalar && v->bits != 0)
    out.emplace_back(v->declared->index, v->bits);
  if (is_handle && v->form == value_form::raw)
    for (size_t i = 0; i < v->element_count(); ++i)
      out.emplace_back(v->declared->index, v->element(i));
  for (const auto& item : v->items) collect_handles(&item, out);
}

// What a call that waits waits for: events, or what a queue, a list or a fence stands for.
std::vector<handle> awaited(const recorded_call& call) {
  std::vector<handle> out;
  for (const std::string_view name :
       {"phWaitEvents", "phEvents", "hEvent", "hFence", "hCommandQueue", "hCommandList"}) {
    collect_handles(call.inputs.find(name), out);
    if (!out.empty()) break;
  }
  return out;
}

// What a call brings about, when it is done: an event's signal, the work of a queue or a list.
std::vector<handle> brought_about(const recorded_call& call) {
  const auto name = call.function->name;
  std::vector<handle> out;
  collect_handles(call.inputs.find("hSignalEvent"), out);
  if (name == "zeEventHostSignal" || name == "zeCommandListAppendSignalEvent")
    collect_handles(call.inputs.find("hEvent"), out);
  if (name.find("ExecuteCommandLists") != name.npos) {
    collect_handles(call.inputs.find("hFence"), out);
    collect_handles(call.inputs.find("hCommandQueue"), out);
  }
  if (name.find("Append") != name.npos) {
    collect_handles(call.inputs.find("hCommandList"), out);
    collect_handles(call.inputs.find("hCommandListImmediate"), out);
  }
  return out;
}

struct stuck_call {
  uint32_t index = 0;  // in the program
  std::string thread;
  std::string text;  // the call as `show` prints it
  std::vector<slot_id> waits_for;
};

struct signaller {
  uint32_t index = 0;
  uint64_t number = 0;
  std::string_view function;
};

class hang_explainer {
 public:
  hang_explainer(const trace::trace_file& trace, const compile_options& options,
                 const program& what, const run_outcome& outcome)
      : trace_(trace),
        options_(options),
        program_(what),
        outcome_(outcome),
        book_(trace, options.selection.process, 1) {}

  result<std::vector<std::string>> run();

 private:
  result<void> find_stuck_calls();
  result<void> find_signallers();
  std::vector<slot_id> slots_of(const std::vector<handle>& handles, uint64_t time_ns) const;
  std::string name_of(slot_id slot) const { return program_.slot_names[index_of(slot)]; }
  std::string explain(const stuck_call& stuck, slot_id awaited) const;
  std::string printed(const recorded_call& call) const;

  const trace::trace_file& trace_;
  const compile_options& options_;
  const program& program_;
  const run_outcome& outcome_;
  address_book book_;
  std::vector<stuck_call> stuck_;
  std::map<uint32_t, std::vector<signaller>> signallers_;  // by slot, in order
};

std::vector<slot_id> hang_explainer::slots_of(const std::vector<handle>& handles,
                                              uint64_t time_ns) const {
  std::vector<slot_id> out;
  for (const auto& [kind, bits] : handles)
    if (const auto slot = book_.find_handle(kind, bits, time_ns)) out.push_back(*slot);
  return out;
}

std::string hang_explainer::printed(const recorded_call& call) const {
  api::print_options options;
  options.handle_name = [&](const api::handle_class& kind, uint64_t bits, api::call_side) {
    const auto index = static_cast<uint16_t>(&kind - trace_.model().handles.data());
    const auto slot = book_.find_handle(index, bits, call.call.start_ns);
    return slot ? name_of(*slot) : fmt::format("{:#x}", bits);
  };
  std::string text = api::print_call(trace_.model(), call.inputs, nullptr, std::nullopt, options);
  // That it did not return is said elsewhere.
  return text.substr(0, text.rfind(')', text.rfind(" →")) + 1);
}

result<void> hang_explainer::find_stuck_calls() {
  const auto under_way = outcome_.under_way();
  std::map<uint64_t, uint32_t> wanted;  // number → index
  for (const uint32_t index : under_way) wanted.emplace(program_.calls[index].number, index);
  recorded_calls calls(trace_, options_.selection);
  for (;;) {
    const auto next = calls.next();
    if (!next) return tl::unexpected(next.error());
    if (*next == nullptr) return {};
    const auto found = wanted.find((*next)->number());
    if (found == wanted.end()) continue;
    const auto& thread = program_.threads[program_.calls[found->second].thread];
    stuck_.push_back({found->second,
                      thread.name.empty()
                          ? fmt::format("thread {}", thread.trace_thread)
                          : fmt::format("thread {} ({})", thread.trace_thread, thread.name),
                      printed(**next), slots_of(awaited(**next), (*next)->call.start_ns)});
  }
}

result<void> hang_explainer::find_signallers() {
  std::set<uint32_t> wanted;
  for (const auto& each : stuck_)
    for (const auto slot : each.waits_for) wanted.insert(index_of(slot));
  recorded_calls calls(trace_, options_.selection);
  for (uint32_t index = 0;; ++index) {
    const auto next = calls.next();
    if (!next) return tl::unexpected(next.error());
    if (*next == nullptr) return {};
    for (const auto slot : slots_of(brought_about(**next), (*next)->call.start_ns))
      if (wanted.contains(index_of(slot)))
        signallers_[index_of(slot)].push_back({index, (*next)->number(), (*next)->function->name});
  }
}

std::string hang_explainer::explain(const stuck_call& stuck, slot_id slot) const {
  const auto found = signallers_.find(index_of(slot));
  if (found == signallers_.end())
    return fmt::format("  {}: nothing in the recording signals it", name_of(slot));
  // The one that the call was waiting for is the last before it, or one that comes after.
  std::vector<signaller> shown;
  size_t others = 0;
  for (const auto& each : found->second) {
    if (each.index < stuck.index) {
      shown.assign(1, each);
    } else if (shown.size() < most_signallers) {
      shown.push_back(each);
    } else {
      ++others;
    }
  }
  std::string text = fmt::format("  {} would have had to be brought about by", name_of(slot));
  for (size_t i = 0; i < shown.size(); ++i) {
    const auto state = outcome_.call(shown[i].index).state;
    text +=
        fmt::format("{} call {} {} ({})", i == 0 ? "" : " or", shown[i].number, shown[i].function,
                    state == call_state::returned    ? "made"
                    : state == call_state::under_way ? "under way"
                                                     : "not made yet");
  }
  if (others != 0) text += fmt::format(" or {} later ones", others);
  return text;
}

result<std::vector<std::string>> hang_explainer::run() {
  if (auto done = find_stuck_calls(); !done) return tl::unexpected(done.error());
  if (auto done = find_signallers(); !done) return tl::unexpected(done.error());
  std::vector<std::string> lines;
  for (const auto& each : stuck_) {
    const auto& call = program_.calls[each.index];
    lines.push_back(fmt::format(
        "{} is stuck in call {} {} ({})", each.thread, call.number, each.text,
        call.returned ? fmt::format("{} in the recording", duration_text(call.duration_ns))
                      : "it did not return in the recording either"));
    for (const auto slot : each.waits_for) lines.push_back(explain(each, slot));
  }
  return lines;
}

}  // namespace

result<std::vector<std::string>> explain_hang(const trace::trace_file& trace,
                                              const compile_options& options, const program& what,
                                              const run_outcome& outcome) {
  return hang_explainer(trace, options, what, outcome).run();
}

}  // namespace zevent::replay
