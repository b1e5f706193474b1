#include "replay/host_ranges.hpp"

#include <algorithm>

namespace zevent::replay {
namespace {

// What is added is compacted now and then, so that a loop over one buffer takes no memory.
constexpr size_t compact_at = 1u << 16;

uint64_t down(uint64_t address, uint64_t granule) {
  return address & ~(granule - 1);
}

uint64_t up(uint64_t address, uint64_t granule) {
  return down(address > UINT64_MAX - granule ? UINT64_MAX : address + granule - 1, granule);
}

}  // namespace

void host_ranges::add(uint64_t address, uint64_t bytes) {
  const uint64_t least_bytes = std::min(std::max<uint64_t>(bytes, 1), UINT64_MAX - address);
  const uint64_t first = down(address, granule_bytes_);
  const uint64_t end = up(address + least_bytes, granule_bytes_);
  if (end <= first) return;
  if (!ranges_.empty() && ranges_.back().first <= first &&
      end <= ranges_.back().first + ranges_.back().bytes)
    return;
  ranges_.push_back({first, end - first});
  if (ranges_.size() % compact_at == 0) settle();
}

void host_ranges::settle() {
  std::sort(ranges_.begin(), ranges_.end(),
            [](const range& a, const range& b) { return a.first < b.first; });
  std::vector<range> joined;
  for (const auto& each : ranges_) {
    if (!joined.empty() && each.first < joined.back().first + joined.back().bytes) {
      auto& last = joined.back();
      last.bytes = std::max(last.first + last.bytes, each.first + each.bytes) - last.first;
    } else {
      joined.push_back(each);
    }
  }
  ranges_ = std::move(joined);
}

std::optional<host_ranges::place> host_ranges::find(uint64_t address) const {
  // Most words that are asked for are no addresses.
  if (ranges_.empty() || address < ranges_.front().first) return std::nullopt;
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                      [](uint64_t a, const range& r) { return a < r.first; });
  if (after == ranges_.begin()) return std::nullopt;
  const auto found = std::prev(after);
  if (address - found->first >= found->bytes) return std::nullopt;
  return place{static_cast<uint32_t>(found - ranges_.begin()), address - found->first};
}

uint64_t host_ranges::total_bytes() const {
  uint64_t total = 0;
  for (const auto& each : ranges_) total += each.bytes;
  return total;
}

}  // namespace zevent::replay
