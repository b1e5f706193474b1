#include "model/unfinished_writes.hpp"

#include <algorithm>
#include <set>

#include "model/process_calls.hpp"

namespace zevent::model {

void unfinished_writes::begin(const call_view& call) {
  if (!looking_.empty()) looking_.erase(call.thread);
  const auto [first, last] = looks_of(call.number);
  for (size_t i = first; i < last; ++i) {
    if (looks_[i].before_call)
      look(i);
    else
      remember_pending(i);
  }
  state_.begin(call);
}

void unfinished_writes::end(const call_view& call) {
  const auto [first, last] = looks_of(call.number);
  for (size_t i = first; i < last; ++i)
    if (!looks_[i].before_call) add_completed_by_others(i);
  state_.end(call);
  if (first == last) return;
  for (size_t i = first; i < last; ++i)
    if (!looks_[i].before_call) look(i);
  looking_[call.thread] = {first, last};
}

void unfinished_writes::starting(const run& about_to) {
  for (auto& [look, writes] : pending_)
    for (const auto& access : about_to.what->accesses)
      if (access.writes && touches(look, access)) writes.push_back({id_of(about_to), access});
  for (const auto& [thread, looks] : looking_)
    for (size_t i = looks.first; i < looks.second; ++i) {
      if (looks_[i].before_call) continue;
      for (const auto& access : about_to.what->accesses)
        if (access.writes) add(i, access);
    }
}

void unfinished_writes::remember_pending(size_t look) {
  auto& writes = pending_[look];
  const auto& where = looks_[look].where;
  state_.accesses().for_each_pending(where.first, where.end(),
                                     [&](const run& each, const memory_access& access) {
                                       if (access.writes) writes.push_back({id_of(each), access});
                                     });
}

// What another thread waited for while the call was under way is complete by its wait, not by this
// call: a replay may look before that.
void unfinished_writes::add_completed_by_others(size_t look) {
  const auto found = pending_.extract(look);
  if (found.empty() || found.mapped().empty()) return;
  std::set<run_id> still_pending;
  const auto& where = looks_[look].where;
  state_.accesses().for_each_pending(
      where.first, where.end(),
      [&](const run& each, const memory_access&) { still_pending.insert(id_of(each)); });
  for (const auto& [which, access] : found.mapped())
    if (!still_pending.contains(which)) add(look, access);
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

bool unfinished_writes::touches(size_t look, const memory_access& access) const {
  const auto& where = looks_[look].where;
  return overlap(simplified(access.region),
                 simplified({.first = where.first, .row_bytes = where.end() - where.first}))
      .has_value();
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
