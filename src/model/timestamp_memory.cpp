#include "model/timestamp_memory.hpp"

#include <algorithm>

#include "model/process_calls.hpp"
#include "model/process_model.hpp"

namespace zevent::model {
namespace {

bool writes_timestamps(function which) {
  return which == function::zeCommandListAppendWriteGlobalTimestamp ||
         which == function::zeCommandListAppendQueryKernelTimestamps;
}

byte_range range_of(const byte_region& region) {
  return {region.first, region.end() - region.first};
}

// Listens to the model of one process.
class timestamp_search final : public listener {
 public:
  std::vector<timestamp_memory> run_all(const trace::trace_file& trace, uint32_t process) {
    tell_calls_of(trace, process, *this);
    return std::move(found_);
  }

  void begin(const call_view& call) {
    now_ns_ = call.start_ns;
    state_.begin(call);
  }
  void end(const call_view& call) { state_.end(call); }

  void starting(const run& about_to) override {
    const auto& accesses = about_to.what->accesses;
    const memory_access* source = nullptr;
    const memory_access* target = nullptr;
    for (const auto& each : accesses) {
      if (!each.certain || each.region.empty()) return;
      (each.writes ? target : source) = &each;
    }
    if (target == nullptr) return;
    std::vector<timestamp_memory> written;
    if (writes_timestamps(about_to.what->which)) {
      for (const auto& each : accesses)
        if (each.writes) written.push_back({range_of(each.region), now_ns_});
    } else if (source != nullptr) {
      written = copied(source->region, target->region);
    }
    for (const auto& each : accesses)
      if (each.writes && each.region.contiguous()) forget(range_of(each.region));
    found_.insert(found_.end(), written.begin(), written.end());
  }

 private:
  // The times of the source, where the copy puts them; all of a target that has another shape.
  std::vector<timestamp_memory> copied(const byte_region& source, const byte_region& target) const {
    std::vector<timestamp_memory> out;
    const auto from = range_of(source), to = range_of(target);
    const bool keeps_shape = source.contiguous() && target.contiguous() && from.bytes == to.bytes;
    for (const auto& each : found_) {
      const uint64_t first = std::max(each.where.first, from.first);
      const uint64_t end = std::min(each.where.end(), from.end());
      if (first >= end) continue;
      if (!keeps_shape) return {{to, now_ns_}};
      out.push_back({{to.first + (first - from.first), end - first}, now_ns_});
    }
    return out;
  }

  // Something else is there now.
  void forget(const byte_range& where) {
    std::vector<timestamp_memory> kept;
    for (const auto& each : found_) {
      const auto& old = each.where;
      if (old.first >= where.end() || where.first >= old.end()) {
        kept.push_back(each);
        continue;
      }
      if (old.first < where.first)
        kept.push_back({{old.first, where.first - old.first}, each.at_ns});
      if (old.end() > where.end())
        kept.push_back({{where.end(), old.end() - where.end()}, each.at_ns});
    }
    found_ = std::move(kept);
  }

  process_model state_{*this};
  uint64_t now_ns_ = 0;
  std::vector<timestamp_memory> found_;
};

}  // namespace

std::vector<timestamp_memory> find_timestamp_memory(const trace::trace_file& trace,
                                                    uint32_t process) {
  return timestamp_search().run_all(trace, process);
}

}  // namespace zevent::model
