#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "driver/fork_safety.hpp"

namespace zevent::driver {

// Memory that other processes can be given: blocks cut from a few large memfd mappings, so that
// tens of thousands of allocations need neither as many descriptors nor as many maps.
class shared_heap {
 public:
  static constexpr size_t largest_alignment_bytes = size_t{256} << 20;

  // Blocks are multiples of `granule_bytes`, a power of two.
  shared_heap(const char* name, size_t granule_bytes)
      : name_(name), granule_bytes_(granule_bytes) {}
  ~shared_heap() = delete;  // heaps live as long as the process

  // Any number will do, as long as it and the granule have a common multiple that is not too large.
  bool is_possible_alignment(size_t alignment_bytes) const;

  // Null when the system has no memory left. Not zeroed.
  void* allocate(size_t bytes, size_t alignment_bytes);
  void free(void* address, size_t bytes);

  // Where an address lies: what another process needs in order to map it.
  struct location {
    int descriptor;  // owned by the heap
    uint64_t offset;
    uint64_t note_offset;  // of note_bytes in the same file that belong to the block alone
  };
  static constexpr size_t note_bytes = 64;
  std::optional<location> locate(const void* address);

 private:
  struct chunk {
    int descriptor = -1;
    char* base = nullptr;
    size_t bytes = 0;
    std::map<size_t, size_t> free_by_offset;            // offset -> bytes
    std::set<std::pair<size_t, size_t>> free_by_bytes;  // (bytes, offset)

    void add_free(size_t offset, size_t bytes_freed);
    void remove_free(size_t offset);
    std::optional<size_t> take(size_t wanted_bytes, size_t alignment_bytes);
  };

  size_t rounded(size_t bytes) const {
    return (bytes + granule_bytes_ - 1) & ~(granule_bytes_ - 1);
  }
  size_t common_alignment(size_t alignment_bytes) const;
  chunk* add_chunk(size_t least_bytes);
  chunk* chunk_of(const void* address);
  char* reserve(size_t bytes);
  void unmap(const chunk& empty);

  const char* const name_;
  const size_t granule_bytes_;
  fork_safe_mutex mutex_{fork_safe_mutex::rank::heap};  // guards all below
  std::map<uintptr_t, std::unique_ptr<chunk>> chunks_;  // by address
  std::multimap<size_t, char*> reserved_;  // addresses of chunks that are gone, by bytes
};

}  // namespace zevent::driver
