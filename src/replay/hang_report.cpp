#include "replay/hang_report.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "api/print.hpp"
#include "model/symptom.hpp"
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

// An event is the same in all processes that have its pool open, and so are all that were made of
// one place in a pool.
struct awaited_thing {
  slot_id slot{};      // of the thing, or of its pool where that was first made
  uint64_t place = 0;  // in the pool; of things without a pool it is no_place
  static constexpr uint64_t no_place = UINT64_MAX;

  auto operator<=>(const awaited_thing&) const = default;
};

struct stuck_call {
  uint32_t program = 0, index = 0;
  std::string thread;
  std::string text;  // the call as `show` prints it
  uint64_t number = 0;
  std::vector<slot_id> waits_for;
};

struct signaller {
  uint32_t program = 0, index = 0;
  uint64_t number = 0;
  std::string_view function;
};

class hang_explainer {
 public:
  hang_explainer(const trace::trace_file& trace, std::span<const program> programs,
                 std::span<const run_outcome> outcomes)
      : trace_(trace), programs_(programs), outcomes_(outcomes) {
    for (const auto& each : programs) books_.emplace_back(trace, each.selection.process, 1);
  }

  result<std::vector<std::string>> run();

 private:
  result<void> for_each_call(const auto& visit) const;
  void note_stuck_call(uint32_t program, uint32_t index, const recorded_call& call);
  void note_export(uint32_t program, const recorded_call& call);
  void note_opening(uint32_t program, const recorded_call& call);
  std::vector<slot_id> slots_of(uint32_t program, const std::vector<handle>& handles,
                                uint64_t time_ns) const;
  std::optional<slot_id> slot_put_out(uint32_t program, const recorded_call& call) const;
  awaited_thing thing_behind(slot_id slot) const;
  std::string name_of(slot_id slot) const { return programs_.front().slot_names[index_of(slot)]; }
  std::string describe(const stuck_call& stuck) const;
  std::string explain(const stuck_call& stuck, slot_id awaited) const;
  std::string printed(uint32_t program, const recorded_call& call) const;

  const trace::trace_file& trace_;
  std::span<const program> programs_;
  std::span<const run_outcome> outcomes_;
  std::vector<address_book> books_;  // by program
  std::vector<stuck_call> stuck_;
  std::map<opaque_handle, slot_id> exported_;  // by handle without its descriptor
  std::map<uint32_t, slot_id> opened_;         // by slot: what was exported
  std::map<uint32_t, awaited_thing> made_in_;  // by slot of an event: its pool and place
  std::map<awaited_thing, std::vector<signaller>> signallers_;  // in order
};

opaque_handle without_descriptor(std::span<const std::byte> bytes) {
  auto out = to_opaque(bytes);
  std::fill_n(out.begin(), descriptor_bytes, std::byte{0});
  return out;
}

std::optional<opaque_handle> find_handle_bytes(const std::vector<value>& values) {
  for (const auto& v : values) {
    if (v.form == value_form::record && is_opaque(*v.structure) && !v.items.empty())
      return without_descriptor(v.items.front().bytes);
    if (auto inside = find_handle_bytes(v.items)) return inside;
  }
  return std::nullopt;
}

result<void> hang_explainer::for_each_call(const auto& visit) const {
  for (uint32_t program = 0; program < programs_.size(); ++program) {
    std::unordered_map<uint64_t, uint32_t> index_of;  // by number
    const auto& compiled = programs_[program].calls;
    for (uint32_t i = 0; i < compiled.size(); ++i) index_of.emplace(compiled[i].number, i);
    recorded_calls calls(trace_, programs_[program].selection);
    for (;;) {
      const auto next = calls.next();
      if (!next) return tl::unexpected(next.error());
      if (*next == nullptr) break;
      const auto index = index_of.find((*next)->number());
      if (index != index_of.end()) visit(program, index->second, **next);
    }
  }
  return {};
}

std::vector<slot_id> hang_explainer::slots_of(uint32_t program, const std::vector<handle>& handles,
                                              uint64_t time_ns) const {
  std::vector<slot_id> out;
  for (const auto& [kind, bits] : handles)
    if (const auto slot = books_[program].find_handle(kind, bits, time_ns)) out.push_back(*slot);
  return out;
}

std::string hang_explainer::printed(uint32_t program, const recorded_call& call) const {
  api::print_options options;
  options.handle_name = [&](const api::handle_class& kind, uint64_t bits, api::call_side) {
    const auto index = static_cast<uint16_t>(&kind - trace_.model().handles.data());
    const auto slot = books_[program].find_handle(index, bits, call.call.start_ns);
    return slot ? name_of(*slot) : fmt::format("{:#x}", bits);
  };
  std::string text = api::print_call(trace_.model(), call.inputs, nullptr, std::nullopt, options);
  // That it did not return is said elsewhere.
  return text.substr(0, text.rfind(')', text.rfind(" →")) + 1);
}

void hang_explainer::note_stuck_call(uint32_t program, uint32_t index, const recorded_call& call) {
  const auto& thread = programs_[program].threads[programs_[program].calls[index].thread];
  std::string who = thread.name.empty()
                        ? fmt::format("thread {}", thread.trace_thread + 1)
                        : fmt::format("thread {} ({})", thread.trace_thread + 1, thread.name);
  if (programs_.size() > 1)
    who += fmt::format(" of process {}", programs_[program].selection.process + 1);
  stuck_.push_back({program, index, std::move(who), printed(program, call), call.number(),
                    slots_of(program, awaited(call), call.call.start_ns)});
}

void hang_explainer::note_export(uint32_t program, const recorded_call& call) {
  if (call.function->name.find("GetIpcHandle") == std::string_view::npos) return;
  const auto bytes = find_handle_bytes(call.outputs.parameters);
  std::vector<handle> exported;
  for (const std::string_view name : {"hEventPool", "hEvent"})
    collect_handles(call.inputs.find(name), exported);
  const auto slots = slots_of(program, exported, call.call.start_ns);
  if (bytes && !slots.empty()) exported_.insert_or_assign(*bytes, slots.front());
}

std::optional<slot_id> hang_explainer::slot_put_out(uint32_t program,
                                                    const recorded_call& call) const {
  std::vector<handle> made;
  for (const std::string_view name : {"phEventPool", "phEvent"})
    collect_handles(call.outputs.find(name), made);
  const auto slots = slots_of(program, made, call.call.end_ns());
  return slots.empty() ? std::nullopt : std::optional(slots.front());
}

void hang_explainer::note_opening(uint32_t program, const recorded_call& call) {
  const bool opens = call.function->name.find("OpenIpcHandle") != std::string_view::npos;
  if (!opens && call.function->name != "zeEventCreate") return;
  const auto made = slot_put_out(program, call);
  if (!made) return;
  if (opens) {
    const auto bytes = find_handle_bytes(call.inputs.parameters);
    const auto found = bytes ? exported_.find(*bytes) : exported_.end();
    if (found != exported_.end()) opened_[index_of(*made)] = found->second;
    return;
  }
  std::vector<handle> pool;
  collect_handles(call.inputs.find("hEventPool"), pool);
  const auto slots = slots_of(program, pool, call.call.start_ns);
  const value* desc = call.inputs.find("desc");
  const value* place = desc == nullptr ? nullptr : desc->find("index");
  if (slots.empty() || place == nullptr) return;
  const auto opened = opened_.find(index_of(slots.front()));
  made_in_[index_of(*made)] = {opened == opened_.end() ? slots.front() : opened->second,
                               place->bits};
}

awaited_thing hang_explainer::thing_behind(slot_id slot) const {
  if (const auto found = made_in_.find(index_of(slot)); found != made_in_.end())
    return found->second;
  const auto opened = opened_.find(index_of(slot));
  return {opened == opened_.end() ? slot : opened->second, awaited_thing::no_place};
}

std::string hang_explainer::explain(const stuck_call& stuck, slot_id slot) const {
  const auto found = signallers_.find(thing_behind(slot));
  if (found == signallers_.end())
    return fmt::format("  {}: nothing in the recording signals it", name_of(slot));
  // The one that the call was waiting for is the last before it, or one that comes after.
  std::vector<signaller> shown;
  size_t others = 0;
  for (const auto& each : found->second) {
    if (each.number < stuck.number) {
      shown.assign(1, each);
    } else if (shown.size() < most_signallers) {
      shown.push_back(each);
    } else {
      ++others;
    }
  }
  std::string text = fmt::format("  {} is signalled by", name_of(slot));
  for (size_t i = 0; i < shown.size(); ++i) {
    const auto state = outcomes_[shown[i].program].call(shown[i].index).state;
    text += fmt::format("{} call {} {}", i == 0 ? "" : " or", shown[i].number, shown[i].function);
    if (shown[i].program != stuck.program)
      text += fmt::format(" of process {}", programs_[shown[i].program].selection.process + 1);
    text += state == call_state::returned     ? " (made)"
            : state == call_state::under_way  ? " (under way)"
            : state == call_state::impossible ? " (could not be made)"
                                              : " (not made yet)";
  }
  if (others != 0) text += fmt::format(" or {} later ones", others);
  return text;
}

std::string hang_explainer::describe(const stuck_call& stuck) const {
  const auto& owner = programs_[stuck.program];
  const auto& call = owner.calls[stuck.index];
  std::string before = "it did not return in the recording either";
  if (call.until_done)
    before = fmt::format("asked {} times; in the recording it was answered SUCCESS after {}",
                         outcomes_[stuck.program].call(stuck.index).asks,
                         model::time_text(call.span_ns));
  else if (call.returned)
    before = fmt::format("{} in the recording", model::time_text(call.duration_ns));
  else if (owner.end.is_crash())
    before = "in the recording, " + how_it_ended(owner);
  return fmt::format("{} is stuck in call {} {} ({})", stuck.thread, call.number, stuck.text,
                     before);
}

result<std::vector<std::string>> hang_explainer::run() {
  std::vector<std::set<uint32_t>> under_way;
  for (const auto& each : outcomes_) {
    const auto calls = each.under_way();
    under_way.emplace_back(calls.begin(), calls.end());
  }
  auto done = for_each_call([&](uint32_t program, uint32_t index, const recorded_call& call) {
    if (under_way[program].contains(index)) note_stuck_call(program, index, call);
    note_export(program, call);
  });
  if (done)
    done = for_each_call([&](uint32_t program, uint32_t, const recorded_call& call) {
      note_opening(program, call);
    });
  if (!done) return tl::unexpected(done.error());
  std::set<awaited_thing> wanted;
  for (const auto& each : stuck_)
    for (const auto slot : each.waits_for) wanted.insert(thing_behind(slot));
  done = for_each_call([&](uint32_t program, uint32_t index, const recorded_call& call) {
    for (const auto slot : slots_of(program, brought_about(call), call.call.start_ns))
      if (const auto thing = thing_behind(slot); wanted.contains(thing))
        signallers_[thing].push_back({program, index, call.number(), call.function->name});
  });
  if (!done) return tl::unexpected(done.error());
  for (auto& [thing, calls] : signallers_)
    std::sort(calls.begin(), calls.end(),
              [](const signaller& a, const signaller& b) { return a.number < b.number; });
  std::vector<std::string> lines;
  for (const auto& each : stuck_) {
    lines.push_back(describe(each));
    for (const auto slot : each.waits_for) lines.push_back(explain(each, slot));
  }
  return lines;
}

}  // namespace

result<std::vector<std::string>> explain_hang(const trace::trace_file& trace,
                                              std::span<const program> programs,
                                              std::span<const run_outcome> outcomes) {
  return hang_explainer(trace, programs, outcomes).run();
}

}  // namespace zevent::replay
