#include "model/access_map.hpp"

#include <algorithm>
#include <set>

namespace zevent::model {
namespace {

// Of accesses that nothing orders, a stretch remembers so many of the last: enough to report each
// kind of conflict, and adding stays cheap.
constexpr size_t most_entries = 64;

}  // namespace

// Makes `address` the start of a stretch if it lies inside of one; gives the first stretch that
// starts at or after it.
access_map::map::iterator access_map::split(uint64_t address) {
  auto after = stretches_.lower_bound(address);
  if (after == stretches_.begin()) return after;
  if (after != stretches_.end() && after->first == address) return after;
  const auto before = std::prev(after);
  if (before->second.end <= address) return after;
  stretch upper{before->second.end, before->second.entries};
  before->second.end = address;
  return stretches_.emplace_hint(after, address, std::move(upper));
}

void access_map::add(const ref<run>& later, conflict_sink& sink) {
  const auto count = static_cast<uint32_t>(later->what->accesses.size());
  for (uint32_t i = 0; i < count; ++i) add({later, i}, sink);
  if (stretches_.size() > sweep_at_) sweep();
}

void access_map::add(const entry& added, conflict_sink& sink) {
  const auto& region = added.what().region;
  if (region.empty()) return;
  told_.clear();
  const uint64_t end = region.end();
  auto place = split(region.first);
  for (uint64_t at = region.first; at < end; ++place) {
    if (place == stretches_.end() || place->first > at) {
      const uint64_t until = place == stretches_.end() ? end : std::min(end, place->first);
      place = stretches_.emplace_hint(place, at, stretch{until, {}});
    } else if (place->second.end > end) {
      stretch upper{place->second.end, place->second.entries};
      place->second.end = end;
      stretches_.emplace_hint(std::next(place), end, std::move(upper));
    }
    meet(place->second, added, sink);
    at = place->second.end;
  }
}

void access_map::meet(stretch& place, const entry& added, conflict_sink& sink) {
  const auto& later = added.what();
  const auto is_replaced = [&](const entry& earlier) {
    if (complete(*earlier.who)) return true;
    // A command's own accesses are no conflict; EV-45 is about those that overlap.
    if (earlier.who == added.who) return false;
    const auto& before = earlier.what();
    const bool in_order = ordered(*earlier.who, *added.who);
    if (before.writes || later.writes) compare(earlier, added, in_order, sink);
    return in_order && later.region.contiguous() && (later.certain || !before.certain) &&
           (later.writes || !before.writes);
  };
  std::erase_if(place.entries, is_replaced);
  if (place.entries.size() >= most_entries) place.entries.erase(place.entries.begin());
  place.entries.push_back(added);
}

void access_map::compare(const entry& earlier, const entry& later, bool in_order,
                         conflict_sink& sink) {
  const auto& before = earlier.what();
  const bool seen = !before.writes || visible(*earlier.who, *later.who);
  if (in_order && seen) return;
  if (std::find(told_.begin(), told_.end(), &before) != told_.end()) return;
  if (const auto common = overlap(before.region, later.what().region)) {
    told_.push_back(&before);
    sink.conflicts({*earlier.who, before, *later.who, later.what(), *common, in_order});
  }
}

void access_map::for_each_pending(
    uint64_t first, uint64_t end,
    const std::function<void(const run&, const memory_access&)>& visit) {
  std::set<std::pair<const run*, uint32_t>> visited;
  auto place = stretches_.upper_bound(first);
  if (place != stretches_.begin()) --place;
  for (; place != stretches_.end() && place->first < end; ++place) {
    if (place->second.end <= first) continue;
    for (const auto& each : place->second.entries) {
      if (complete(*each.who) || !visited.emplace(each.who.get(), each.access).second) continue;
      if (overlap(each.what().region, {first, end - first})) visit(*each.who, each.what());
    }
  }
}

void access_map::forget(uint64_t first, uint64_t end) {
  const auto from = split(first);
  const auto to = split(end);
  stretches_.erase(from, to);
}

void access_map::sweep() {
  for (auto place = stretches_.begin(); place != stretches_.end();) {
    auto& entries = place->second.entries;
    std::erase_if(entries, [](const entry& each) { return complete(*each.who); });
    place = entries.empty() ? stretches_.erase(place) : std::next(place);
  }
  sweep_at_ = std::max<size_t>(1024, stretches_.size() * 2);
}

}  // namespace zevent::model
