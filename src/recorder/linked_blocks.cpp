#include "recorder/linked_blocks.hpp"

#include <cstring>
#include <iterator>
#include <utility>

#include "recorder/plain_memory.hpp"

namespace zevent::recorder {

void linked_blocks::scan(uint64_t address, std::span<const std::byte> content) {
  constexpr size_t word_bytes = sizeof(uint64_t);
  const plain_address_space space = plain_addresses();
  const size_t first = (word_bytes - address % word_bytes) % word_bytes;
  for (size_t at = first; at + word_bytes <= content.size(); at += word_bytes) {
    uint64_t word = 0;
    std::memcpy(&word, content.data() + at, word_bytes);
    if (!space.contains(word)) [[likely]]
      continue;
    if (candidates_.size() < max_candidates)
      candidates_.insert(word);
    else
      ++dropped_;
  }
}

uint64_t linked_blocks::visit(const find_function& find, const keep_function& keep) {
  uint64_t bytes = 0;
  for (auto each = blocks_.begin(); each != blocks_.end();) {
    const auto block = find(each->first);
    if (!block || block->begin != each->first) {
      each = blocks_.erase(each);
      continue;
    }
    each->second = block->end;
    bytes += block->size();
    keep(*block);
    ++each;
  }
  return std::exchange(dropped_, 0) + follow_candidates(find, keep, bytes);
}

uint64_t linked_blocks::follow_candidates(const find_function& find, const keep_function& keep,
                                          uint64_t& bytes) {
  uint64_t left_out = 0;
  while (!candidates_.empty()) {
    const uint64_t address = *candidates_.begin();
    candidates_.erase(candidates_.begin());
    const auto after = blocks_.upper_bound(address);
    if (after != blocks_.begin() && address < std::prev(after)->second) continue;
    const auto block = find(address);
    if (!block) continue;
    if (blocks_.size() >= max_blocks || bytes + block->size() > max_bytes) {
      ++left_out;
      continue;
    }
    blocks_[block->begin] = block->end;
    bytes += block->size();
    keep(*block);  // which may find more candidates
  }
  return left_out;
}

}  // namespace zevent::recorder
