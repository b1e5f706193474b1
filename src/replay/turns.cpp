#include "replay/turns.hpp"

#include <algorithm>

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

timed_call timed(const recorded_call& call) {
  return {call.call.start_ns, call.call.returned() ? call.call.end_ns() : UINT64_MAX,
          call.call.thread, may_wait(call)};
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
  return out;
}

}  // namespace zevent::replay
