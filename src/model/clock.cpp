#include "model/clock.hpp"

#include <algorithm>

namespace zevent::model {
namespace {

bool known(const clock_entry& entry) {
  return entry.where->known >= entry.ordered;
}

bool adds_to(const clock_entry& more, const clock_ref& when) {
  if (known(more)) return false;
  const auto present = look(when, *more.where);
  return present.ordered < more.ordered || present.visible < more.visible;
}

void raise(clock_entry& entry, const clock_entry& more) {
  entry.ordered = std::max(entry.ordered, more.ordered);
  entry.visible = std::max(entry.visible, more.visible);
}

std::span<const clock_entry> entries_of(const clock_ref& when) {
  return when ? when->entries() : std::span<const clock_entry>{};
}

clock_ref merge(std::span<const clock_entry> a, std::span<const clock_entry> b) {
  std::vector<clock_entry> merged;
  merged.reserve(a.size() + b.size());
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() || j != b.end()) {
    const bool take_a = j == b.end() || (i != a.end() && i->where->id <= j->where->id);
    const bool both = i != a.end() && j != b.end() && i->where->id == j->where->id;
    clock_entry next = take_a ? *i : *j;
    if (both) raise(next, *j);
    if (take_a) ++i;
    if (both || !take_a) ++j;
    if (!known(next)) merged.push_back(std::move(next));
  }
  if (merged.empty()) return {};
  return clock_ref(new clock(std::move(merged)));
}

}  // namespace

clock_entry look(const clock_ref& when, const timeline& where) {
  const auto entries = entries_of(when);
  if (entries.size() <= 8) {
    for (const auto& each : entries) {
      if (each.where.get() == &where) return each;
    }
    return {};
  }
  const auto place =
      std::lower_bound(entries.begin(), entries.end(), where.id,
                       [](const clock_entry& entry, uint64_t id) { return entry.where->id < id; });
  return place != entries.end() && place->where->id == where.id ? *place : clock_entry{};
}

clock_ref join(const clock_ref& a, const clock_ref& b) {
  if (a == b || !b) return a;
  if (!a) return b;
  const auto adds = [](const clock_ref& more, const clock_ref& when) {
    return std::any_of(more->entries().begin(), more->entries().end(),
                       [&](const clock_entry& each) { return adds_to(each, when); });
  };
  if (!adds(b, a)) return a;
  if (!adds(a, b)) return b;
  return merge(a->entries(), b->entries());
}

clock_ref join(const clock_ref& when, const clock_entry& more) {
  if (!more.where || !adds_to(more, when)) return when;
  return merge(entries_of(when), std::span(&more, 1));
}

clock_ref meet(const clock_ref& a, const clock_ref& b) {
  if (a == b) return a;
  std::vector<clock_entry> common;
  for (const auto& each : entries_of(a)) {
    const auto other = look(b, *each.where);
    clock_entry least{each.where, std::min(each.ordered, other.ordered),
                      std::min(each.visible, other.visible)};
    if (least.ordered > 0 && !known(least)) common.push_back(std::move(least));
  }
  if (common.empty()) return {};
  return clock_ref(new clock(std::move(common)));
}

void learn(const clock_ref& when) {
  for (const auto& each : entries_of(when)) each.where->learn(each.ordered);
}

}  // namespace zevent::model
