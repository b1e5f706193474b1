#include "model/unfinished_writes.hpp"

#include <algorithm>

#include "model/process_calls.hpp"

namespace zevent::model {

void unfinished_writes::begin(const call_view& call) {
  if (!looking_.empty()) looking_.erase(call.thread);
  const auto [first, last] = looks_of(call.number);
  for (size_t i = first; i < last; ++i)
    if (looks_[i].before_call) look(i);
  state_.begin(call);
}

void unfinished_writes::end(const call_view& call) {
  state_.end(call);
  const auto [first, last] = looks_of(call.number);
  if (first == last) return;
  for (size_t i = first; i < last; ++i)
    if (!looks_[i].before_call) look(i);
  looking_[call.thread] = {first, last};
}

void unfinished_writes::starting(const run& about_to) {
  for (const auto& [thread, looks] : looking_)
    for (size_t i = looks.first; i < looks.second; ++i) {
      if (looks_[i].before_call) continue;
      for (const auto& access : about_to.what->accesses)
        if (access.writes) add(i, access);
    }
}

std::pair<size_t, size_t> unfinished_writes::looks_of(call_number call) const {
  const auto first = std::lower_bound(
      looks_.begin(), looks_.end(), call,
      [](const memory_look& each, call_number number) { return each.call < number; });
  const auto last =
      std::find_if(first, looks_.end(), [&](const memory_look& each) { return each.call != call; });
  return {static_cast<size_t>(first - looks_.begin()), static_cast<size_t>(last - looks_.begin())};
}

void unfinished_writes::look(size_t which) {
  const auto& where = looks_[which].where;
  state_.accesses().for_each_pending(where.first, where.end(),
                                     [&](const run&, const memory_access& access) {
                                       if (access.writes) add(which, access);
                                     });
}

// The rows of a region that lie in the look, one by one.
void unfinished_writes::add(size_t look, const memory_access& access) {
  const byte_region written = simplified(access.region);
  const uint64_t end = looks_[look].where.end();
  for (uint64_t at = looks_[look].where.first; at < end;) {
    const auto both = overlap(written, simplified({.first = at, .row_bytes = end - at}));
    if (!both || both->bytes == 0) return;
    out_[look].push_back({*both, access.certain});
    at = both->end();
  }
}

std::vector<unfinished_of_look> seen_unfinished(const trace::trace_file& trace, uint32_t process,
                                                std::span<const memory_look> looks) {
  if (looks.empty()) return {};
  unfinished_writes search(looks);
  tell_calls_of(trace, process, search);
  return search.take();
}

}  // namespace zevent::model
