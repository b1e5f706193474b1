#include "trace/lineage.hpp"

#include <algorithm>

namespace zevent::trace {

lineage::lineage(const run_info& run, uint32_t process) {
  members_.push_back({process, UINT64_MAX});
  // A parent comes before its children: this ends.
  for (const auto* fork = &run.processes[process].fork; fork->has_value();
       fork = &run.processes[(*fork)->parent].fork)
    members_.push_back({(*fork)->parent, std::min((*fork)->at_ns, members_.back().until_ns)});
}

bool lineage::includes(uint32_t process, uint64_t end_ns) const {
  return std::any_of(members_.begin(), members_.end(), [&](const member& each) {
    return each.process == process && end_ns <= each.until_ns;
  });
}

}  // namespace zevent::trace
