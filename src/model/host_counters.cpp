#include "model/host_counters.hpp"

#include <algorithm>
#include <iterator>

#include "model/process_calls.hpp"

namespace zevent::model {
namespace {

// No command has been appended that signals it.
bool is_host_written(const event& which) {
  return which.counter_based && which.storage == counter_storage::external && which.foreign;
}

// Sorted, and those that touch made one.
void merge(std::vector<byte_range>& ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const byte_range& a, const byte_range& b) { return a.first < b.first; });
  size_t kept = 0;
  for (const byte_range& each : ranges) {
    if (kept > 0 && each.first <= ranges[kept - 1].end()) {
      byte_range& last = ranges[kept - 1];
      last.bytes = std::max(last.end(), each.end()) - last.first;
    } else {
      ranges[kept++] = each;
    }
  }
  ranges.resize(kept);
}

bool covers(const std::vector<byte_range>& merged, uint64_t address) {
  const auto after =
      std::upper_bound(merged.begin(), merged.end(), address,
                       [](uint64_t wanted, const byte_range& each) { return wanted < each.first; });
  return after != merged.begin() && address < std::prev(after)->end();
}

}  // namespace

void host_counters::begin(const call_view& call) {
  state_.begin(call);
  const bool waits =
      call.which == function::zeEventHostSynchronize || call.which == function::zeEventQueryStatus;
  if (!waits || !call.succeeded()) return;
  const event* which = state_.events.find_alive(call[argument::hEvent]);
  if (which != nullptr && is_host_written(*which))
    out_.push_back({call.number, which->storage_address, which->storage_value});
}

void host_counters::end(const call_view& call) {
  state_.end(call);
  std::erase_if(waiting_, [&](const waiting_run& each) {
    if (!complete(*each.who)) return false;
    out_.push_back({call.number, each.address, each.value});
    return true;
  });
}

void host_counters::starting(const run& about_to) {
  for (const auto& wait : about_to.what->waits)
    if (is_host_written(*wait.which) && !wait.bound)
      waiting_.push_back(
          {ref<const run>(&about_to), wait.which->storage_address, wait.which->storage_value});
  for (const auto& access : about_to.what->accesses)
    if (access.writes && !access.region.empty())
      written_.push_back({access.region.first, access.region.end() - access.region.first});
  if (written_.size() < merge_at_) return;
  merge(written_);
  merge_at_ = std::max(merge_at_, 2 * written_.size());
}

std::vector<host_counter_write> host_counters::take() {
  merge(written_);
  std::erase_if(out_,
                [&](const host_counter_write& each) { return covers(written_, each.address); });
  return std::move(out_);
}

std::vector<host_counter_write> find_host_counter_writes(const trace::trace_file& trace,
                                                         uint32_t process) {
  host_counters search;
  tell_calls_of(trace, process, search);
  return search.take();
}

}  // namespace zevent::model
