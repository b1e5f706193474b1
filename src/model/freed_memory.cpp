#include "model/freed_memory.hpp"

#include <iterator>

namespace zevent::model {

void freed_memory::add(const ref<allocation>& freed) {
  if (freed->bytes == 0) return;
  claim(freed->handle, freed->end());
  by_start_[freed->handle] = freed;
  order_.emplace_back(freed->handle, freed->destroyed);
  if (order_.size() <= max_kept) return;
  const auto [start, call] = order_.front();
  order_.pop_front();
  const auto oldest = by_start_.find(start);
  if (oldest != by_start_.end() && oldest->second->destroyed == call) by_start_.erase(oldest);
}

void freed_memory::claim(uint64_t first, uint64_t end) {
  auto each = by_start_.upper_bound(first);
  if (each != by_start_.begin() && std::prev(each)->second->end() > first) --each;
  while (each != by_start_.end() && each->first < end) each = by_start_.erase(each);
}

const allocation* freed_memory::find(uint64_t address) const {
  const auto after = by_start_.upper_bound(address);
  if (after == by_start_.begin()) return nullptr;
  const allocation* found = std::prev(after)->second.get();
  return address < found->end() ? found : nullptr;
}

}  // namespace zevent::model
