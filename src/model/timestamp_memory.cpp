#include "model/timestamp_memory.hpp"

#include <algorithm>
#include <iterator>
#include <map>

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

byte_range common(const byte_range& a, const byte_range& b) {
  const uint64_t first = std::max(a.first, b.first), end = std::min(a.end(), b.end());
  return {first, end > first ? end - first : 0};
}

// Memory that holds times at present: ranges that do not meet.
class timestamp_map {
 public:
  void add(const timestamp_memory& each) {
    forget(each.where);
    if (each.where.bytes != 0) held_[each.where.first] = each;
  }

  // Something else is there now.
  void forget(const byte_range& where) {
    for (auto each = first_in(where); each != held_.end() && each->first < where.end();) {
      const timestamp_memory old = each->second;
      each = held_.erase(each);
      if (old.where.first < where.first)
        held_[old.where.first] = {{old.where.first, where.first - old.where.first}, old.at_ns};
      if (old.where.end() > where.end())
        held_[where.end()] = {{where.end(), old.where.end() - where.end()}, old.at_ns};
    }
  }

  std::vector<byte_range> in(const byte_range& where) const {
    std::vector<byte_range> out;
    for (auto each = first_in(where); each != held_.end() && each->first < where.end(); ++each)
      out.push_back(common(each->second.where, where));
    return out;
  }

  std::vector<timestamp_memory> all() const {
    std::vector<timestamp_memory> out;
    for (const auto& [first, each] : held_) out.push_back(each);
    return out;
  }

 private:
  using map = std::map<uint64_t, timestamp_memory>;  // by address

  map::const_iterator first_in(const byte_range& where) const {
    auto found = held_.upper_bound(where.first);
    if (found != held_.begin() && std::prev(found)->second.where.end() > where.first) --found;
    return found;
  }

  map held_;
};

// Listens to the model of one process.
class timestamp_search final : public listener {
 public:
  explicit timestamp_search(std::span<const memory_look> looks) : looks_(looks) {
    seen_.resize(looks.size());
  }

  void run_all(const trace::trace_file& trace, uint32_t process) {
    tell_calls_of(trace, process, *this);
  }
  std::vector<timestamp_memory> in_the_end() const { return held_.all(); }
  std::vector<std::vector<byte_range>> take_seen() { return std::move(seen_); }

  void begin(const call_view& call) {
    now_ns_ = call.start_ns;
    look(call.number, true);
    state_.begin(call);
  }
  void end(const call_view& call) {
    state_.end(call);
    look(call.number, false);
  }

  void starting(const run& about_to) override {
    const auto& accesses = about_to.what->accesses;
    const memory_access* source = nullptr;
    const memory_access* target = nullptr;
    for (const auto& each : accesses) {
      if (!each.certain || each.region.empty()) return;
      (each.writes ? target : source) = &each;
    }
    if (target == nullptr) return;
    std::vector<byte_range> written;
    if (writes_timestamps(about_to.what->which)) {
      for (const auto& each : accesses)
        if (each.writes) written.push_back(range_of(each.region));
    } else if (source != nullptr) {
      written = copied(source->region, target->region);
    }
    for (const auto& each : accesses)
      if (each.writes && each.region.contiguous()) held_.forget(range_of(each.region));
    for (const auto& each : written) held_.add({each, now_ns_});
  }

 private:
  // The times of the source, where the copy puts them; all of a target that has another shape.
  std::vector<byte_range> copied(const byte_region& source, const byte_region& target) const {
    const auto from = range_of(source), to = range_of(target);
    auto out = held_.in(from);
    if (out.empty()) return out;
    if (!source.contiguous() || !target.contiguous() || from.bytes != to.bytes) return {to};
    for (auto& each : out) each.first = to.first + (each.first - from.first);
    return out;
  }

  void look(call_number call, bool before_call) {
    const auto first = std::partition_point(
        looks_.begin(), looks_.end(), [&](const memory_look& each) { return each.call < call; });
    for (auto each = first; each != looks_.end() && each->call == call; ++each)
      if (each->before_call == before_call)
        seen_[static_cast<size_t>(each - looks_.begin())] = held_.in(each->where);
  }

  std::span<const memory_look> looks_;
  std::vector<std::vector<byte_range>> seen_;  // by look
  process_model state_{*this};
  uint64_t now_ns_ = 0;
  timestamp_map held_;
};

}  // namespace

std::vector<timestamp_memory> find_timestamp_memory(const trace::trace_file& trace,
                                                    uint32_t process) {
  timestamp_search search({});
  search.run_all(trace, process);
  return search.in_the_end();
}

std::vector<std::vector<byte_range>> seen_timestamps(const trace::trace_file& trace,
                                                     uint32_t process,
                                                     std::span<const memory_look> looks) {
  timestamp_search search(looks);
  if (!looks.empty()) search.run_all(trace, process);
  return search.take_seen();
}

bool writes_timestamps(std::string_view function_name) {
  return function_name == "zeCommandListAppendWriteGlobalTimestamp" ||
         function_name == "zeCommandListAppendQueryKernelTimestamps";
}

}  // namespace zevent::model
