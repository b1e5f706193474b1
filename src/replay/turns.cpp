#include "replay/turns.hpp"

#include <algorithm>
#include <string_view>

#include "model/symptom_search.hpp"

namespace zevent::replay {

bool may_wait(const recorded_call& call) {
  const auto name = call.function->name;
  const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
  // One that blocked although it should not may have waited for another thread all the same.
  if (!call.call.returned() || call.call.duration_ns > model::blocking_ns) return true;
  if (has("Synchronize")) {
    const auto* timeout = call.inputs.find("timeout");
    return timeout == nullptr || timeout->bits != 0;
  }
  return has("CommandListAppend") || has("ExecuteCommandLists") || has("AppendCommandLists") ||
         has("MemFree") || has("Destroy");
}

namespace {

uint64_t slot_of(const recorded_call& call, const address_book& book, std::string_view parameter) {
  const auto* handle = call.inputs.find(parameter);
  if (handle == nullptr || handle->form != api::value_form::scalar || handle->bits == 0)
    return state_use::none;
  const auto slot = book.find_handle(handle->declared->index, handle->bits, call.call.start_ns);
  return slot ? index_of(*slot) : state_use::none;
}

state_use state_used_by(const recorded_call& call, const address_book& book) {
  const auto name = call.function->name;
  const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
  state_use out;
  if (has("ExecuteCommandLists") || has("AppendCommandLists") || has("Graph")) {
    out.signals = state_use::any;
    return out;
  }
  uint64_t object = slot_of(call, book, "hEvent");
  if (object == state_use::none) object = slot_of(call, book, "hFence");
  if (has("Reset") || has("EventDestroy") || has("FenceDestroy"))
    out.takes_away = object;
  else if (has("HostSignal") || has("AppendSignalEvent"))
    out.signals = object;
  else if ((has("Synchronize") || has("Query")) && call.call.result == 0)
    out.learns = object;
  else
    out.signals = slot_of(call, book, "hSignalEvent");
  return out;
}

// Whether a call that began in [first, end) may have signalled it.
bool is_signalled_in(std::span<const timed_call> calls, size_t first, uint64_t end_ns,
                     uint64_t slot) {
  for (size_t i = first; i < calls.size() && calls[i].start_ns < end_ns; ++i)
    if (calls[i].state.signals == slot || calls[i].state.signals == state_use::any) return true;
  return false;
}

// Keeps what threads learned from being taken away before they do.
void order_resets(std::span<const timed_call> calls, call_turns& out) {
  std::vector<uint32_t> under_way;  // that let others go and learn something
  for (uint32_t i = 0; i < calls.size(); ++i) {
    const auto& call = calls[i];
    std::erase_if(under_way, [&](uint32_t each) { return calls[each].end_ns <= call.start_ns; });
    if (call.state.takes_away != state_use::none)
      for (const uint32_t each : under_way)
        if (calls[each].state.learns == call.state.takes_away &&
            calls[each].thread != call.thread && calls[each].end_ns != UINT64_MAX &&
            !is_signalled_in(calls, i, calls[each].end_ns, call.state.takes_away))
          out.waits_for[i].push_back(each);
    if (out.lets_next_go[i] && call.state.learns != state_use::none) under_way.push_back(i);
  }
}

}  // namespace

timed_call timed(const recorded_call& call, const address_book& book) {
  return {call.call.start_ns, call.call.returned() ? call.call.end_ns() : UINT64_MAX,
          call.call.thread, may_wait(call), state_used_by(call, book)};
}

call_turns order_calls(std::span<const timed_call> calls, bool free_threads) {
  call_turns out;
  out.lets_next_go.resize(calls.size());
  for (uint32_t i = 0; i + 1 < calls.size(); ++i) {
    const auto& call = calls[i];
    const bool overlapped = calls[i + 1].start_ns < call.end_ns;
    if (!overlapped || calls[i + 1].thread == call.thread || !(free_threads || call.may_wait))
      continue;
    out.lets_next_go[i] = true;
    const auto next =
        std::partition_point(calls.begin() + i + 1, calls.end(),
                             [&](const timed_call& each) { return each.start_ns < call.end_ns; });
    if (next != calls.end() && next->thread != call.thread)
      out.waits_for[static_cast<uint32_t>(next - calls.begin())].push_back(i);
  }
  order_resets(calls, out);
  return out;
}

}  // namespace zevent::replay
