#include "model/unfinished_writes.hpp"

#include <algorithm>

#include "model/call_sequence.hpp"
#include "model/trace_calls.hpp"

namespace zevent::model {

void unfinished_writes::begin(const call_view& call) {
  if (!looking_.empty()) looking_.erase(call.thread);
  state_.begin(call);
}

void unfinished_writes::end(const call_view& call) {
  state_.end(call);
  const auto first = std::lower_bound(
      looks_.begin(), looks_.end(), call.number,
      [](const memory_look& each, call_number number) { return each.call < number; });
  const auto last = std::find_if(first, looks_.end(),
                                 [&](const memory_look& each) { return each.call != call.number; });
  if (first == last) return;
  const auto begin = static_cast<size_t>(first - looks_.begin());
  const auto end = static_cast<size_t>(last - looks_.begin());
  for (size_t i = begin; i < end; ++i)
    state_.accesses().for_each_pending(looks_[i].where.first, looks_[i].where.end(),
                                       [&](const run&, const memory_access& access) {
                                         if (access.writes) out_[i] = true;
                                       });
  looking_[call.thread] = {begin, end};
}

void unfinished_writes::starting(const run& about_to) {
  for (const auto& [thread, looks] : looking_)
    for (size_t i = looks.first; i < looks.second; ++i)
      for (const auto& access : about_to.what->accesses)
        if (access.writes && access.region.first < looks_[i].where.end() &&
            looks_[i].where.first < access.region.end())
          out_[i] = true;
}

std::vector<bool> seen_unfinished(const trace::trace_file& trace, uint32_t process,
                                  std::span<const memory_look> looks) {
  if (looks.empty()) return {};
  unfinished_writes search(looks);
  call_sequence<unfinished_writes> sequence(search);
  trace_calls calls(trace);
  while (const auto* call = calls.next())
    if (call->process == process) sequence.add(*call, calls.next_start_ns());
  sequence.finish();
  return search.take();
}

}  // namespace zevent::model
