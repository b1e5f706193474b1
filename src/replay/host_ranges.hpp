#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace zevent::replay {

// Plain host memory (of malloc, of stacks) that calls touch, as ranges of the recorded addresses
// that do not meet. The same range may have been many things in the course of a run: it is a place,
// its contents come from elsewhere.
class host_ranges {
 public:
  struct range {
    uint64_t first = 0;
    uint64_t bytes = 0;
  };
  struct place {
    uint32_t range = 0;
    uint64_t offset = 0;  // bytes
  };

  // Ranges begin and end at multiples of `granule_bytes`, a power of two. With that of a page an
  // address keeps its alignment.
  explicit host_ranges(uint64_t granule_bytes) : granule_bytes_(granule_bytes) {}

  void add(uint64_t address, uint64_t bytes);
  // Joins ranges that overlap. To be called after the last add().
  void settle();

  const std::vector<range>& all() const { return ranges_; }
  std::optional<place> find(uint64_t address) const;
  uint64_t total_bytes() const;

 private:
  uint64_t granule_bytes_;
  std::vector<range> ranges_;
};

}  // namespace zevent::replay
