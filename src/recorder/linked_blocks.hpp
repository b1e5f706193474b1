#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include "recorder/write_watch.hpp"

namespace zevent::recorder {

// The counter of a part for blocks that were left out: whoever opens the trace is warned.
inline constexpr std::string_view addresses_not_followed_counter =
    "addresses of plain memory in memory of kernels that were not followed";

// Plain host memory that other memory holds the addresses of: the nodes of a list or of a tree that
// kernels walk, when the device can use memory of malloc().
//
// All content that is kept passes through scan(), which collects the words that may be such
// addresses. When a kernel is launched, visit() finds the blocks that they point at. The content of
// these is kept and scanned in turn, so that chains of any length are followed, up to the limits.
class linked_blocks {
 public:
  using find_function = std::function<std::optional<address_range>(uint64_t address)>;
  using keep_function = std::function<void(const address_range& block)>;

  // `address` is where the content was: words are aligned there.
  void scan(uint64_t address, std::span<const std::byte> content);

  bool empty() const { return blocks_.empty() && candidates_.empty(); }

  // Keeps each block that is still there. Returns how many were left out because of the limits.
  uint64_t visit(const find_function& find, const keep_function& keep);

  static constexpr size_t max_candidates = 4096;
  static constexpr size_t max_blocks = 1024;
  static constexpr uint64_t max_bytes = uint64_t{64} << 20;

 private:
  uint64_t follow_candidates(const find_function& find, const keep_function& keep, uint64_t& bytes);

  std::set<uint64_t> candidates_;        // words that were not looked at yet
  uint64_t dropped_ = 0;                 // candidates for which there was no room
  std::map<uint64_t, uint64_t> blocks_;  // address and end
};

}  // namespace zevent::recorder
