#include "driver/shared_heap.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "base/checked_cast.hpp"
#include "base/invariant.hpp"
#include "driver/alignment.hpp"

namespace zevent::driver {
namespace {

// Address space, not memory: pages come into being when they are touched.
constexpr size_t chunk_bytes = shared_heap::largest_alignment_bytes;

// Blocks of this size give their pages back to the system when they are freed.
constexpr size_t returned_bytes = size_t{64} << 10;

size_t align_up(size_t value, size_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace

void shared_heap::chunk::remove_free(size_t offset) {
  const auto found = free_by_offset.find(offset);
  free_by_bytes.erase({found->second, offset});
  free_by_offset.erase(found);
}

void shared_heap::chunk::add_free(size_t offset, size_t bytes_freed) {
  const auto next = free_by_offset.lower_bound(offset);
  if (next != free_by_offset.begin()) {
    const auto [previous_offset, previous_bytes] = *std::prev(next);
    ZEVENT_INVARIANT(previous_offset + previous_bytes <= offset);
    if (previous_offset + previous_bytes == offset) {
      offset = previous_offset;
      bytes_freed += previous_bytes;
      remove_free(previous_offset);
    }
  }
  const auto after = free_by_offset.find(offset + bytes_freed);
  if (after != free_by_offset.end()) {
    bytes_freed += after->second;
    remove_free(after->first);
  }
  free_by_offset.emplace(offset, bytes_freed);
  free_by_bytes.emplace(bytes_freed, offset);
}

// The smallest free block that holds the wanted bytes at the wanted alignment.
std::optional<size_t> shared_heap::chunk::take(size_t wanted_bytes, size_t alignment_bytes) {
  const auto address = reinterpret_cast<uintptr_t>(base);
  for (auto each = free_by_bytes.lower_bound({wanted_bytes, 0}); each != free_by_bytes.end();
       ++each) {
    const auto [block_bytes, block] = *each;
    const size_t start = align_up(address + block, alignment_bytes) - address;
    if (start + wanted_bytes > block + block_bytes) continue;
    remove_free(block);
    const size_t end = start + wanted_bytes;
    if (start > block) add_free(block, start - block);
    if (end < block + block_bytes) add_free(end, block + block_bytes - end);
    return start;
  }
  return std::nullopt;
}

size_t shared_heap::common_alignment(size_t alignment_bytes) const {
  return std::lcm(std::max<size_t>(alignment_bytes, 1), granule_bytes_);
}

bool shared_heap::is_possible_alignment(size_t alignment_bytes) const {
  return alignment_bytes <= largest_alignment_bytes &&
         common_alignment(alignment_bytes) <= largest_alignment_bytes;
}

void* shared_heap::allocate(size_t bytes, size_t alignment_bytes) {
  if (bytes > SIZE_MAX / 4 || !is_possible_alignment(alignment_bytes)) return nullptr;
  const size_t wanted = std::max(rounded(bytes), granule_bytes_);
  const size_t alignment = common_alignment(alignment_bytes);
  const std::lock_guard lock(mutex_);
  for (const auto& [address, each] : chunks_) {
    if (const auto offset = each->take(wanted, alignment)) return each->base + *offset;
  }
  // Chunks are aligned to chunk_bytes: only what does not divide that costs room.
  chunk* added = add_chunk(chunk_bytes % alignment == 0 ? wanted : wanted + alignment);
  if (added == nullptr) return nullptr;
  const auto offset = added->take(wanted, alignment);
  ZEVENT_INVARIANT(offset.has_value());
  return added->base + *offset;
}

shared_heap::chunk* shared_heap::add_chunk(size_t least_bytes) {
  const size_t bytes = align_up(std::max(least_bytes, chunk_bytes), page_bytes);
  const int descriptor = memfd_create(name_, MFD_CLOEXEC);
  if (descriptor < 0) return nullptr;
  const size_t notes_bytes = bytes / granule_bytes_ * note_bytes;  // behind the blocks, not mapped
  char* base = nullptr;
  if (ftruncate(descriptor, checked_cast<off_t>(bytes + notes_bytes)) == 0) base = reserve(bytes);
  if (base == nullptr) {
    close(descriptor);
    return nullptr;
  }
  void* const mapped = mmap(base, bytes, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_FIXED | MAP_NORESERVE, descriptor, 0);
  if (mapped == MAP_FAILED) {
    reserved_.emplace(bytes, base);
    close(descriptor);
    return nullptr;
  }

  auto added = std::make_unique<chunk>();
  added->descriptor = descriptor;
  added->base = base;
  added->bytes = bytes;
  added->add_free(0, bytes);
  return chunks_.emplace(reinterpret_cast<uintptr_t>(base), std::move(added)).first->second.get();
}

// Address space without memory, aligned to chunk_bytes.
char* shared_heap::reserve(size_t bytes) {
  if (const auto kept = reserved_.find(bytes); kept != reserved_.end()) {
    char* const base = kept->second;
    reserved_.erase(kept);
    return base;
  }
  // More than is needed in order to find an aligned place.
  void* const found = mmap(nullptr, bytes + chunk_bytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(found);
  char* const base = begin + (align_up(reinterpret_cast<uintptr_t>(begin), chunk_bytes) -
                              reinterpret_cast<uintptr_t>(begin));
  if (base > begin) munmap(begin, static_cast<size_t>(base - begin));
  char* const end = begin + bytes + chunk_bytes;
  if (base + bytes < end) munmap(base + bytes, static_cast<size_t>(end - base) - bytes);
  return base;
}

// The system does not get the addresses back, as it does not get those of a GPU's memory: a pointer
// to freed memory is then not one to the program's own. Only so many are kept: address space and
// mappings are limited too.
void shared_heap::unmap(const chunk& empty) {
  constexpr size_t max_reserved = 256, max_reserved_bytes = size_t{64} << 30;
  if (reserved_.size() >= max_reserved || empty.bytes > max_reserved_bytes) {
    munmap(empty.base, empty.bytes);
    return;
  }
  const void* const kept = mmap(empty.base, empty.bytes, PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (kept != MAP_FAILED) reserved_.emplace(empty.bytes, empty.base);
}

shared_heap::chunk* shared_heap::chunk_of(const void* address) {
  const auto value = reinterpret_cast<uintptr_t>(address);
  auto next = chunks_.upper_bound(value);
  if (next == chunks_.begin()) return nullptr;
  chunk* candidate = std::prev(next)->second.get();
  return value < reinterpret_cast<uintptr_t>(candidate->base) + candidate->bytes ? candidate
                                                                                 : nullptr;
}

void shared_heap::free(void* address, size_t bytes) {
  const size_t freed = std::max(rounded(bytes), granule_bytes_);
  const std::lock_guard lock(mutex_);
  chunk* home = chunk_of(address);
  ZEVENT_INVARIANT(home != nullptr);
  if (freed >= returned_bytes) madvise(address, freed, MADV_REMOVE);
  home->add_free(static_cast<size_t>(static_cast<char*>(address) - home->base), freed);
  const bool is_empty = home->free_by_offset.begin()->second == home->bytes;
  if (is_empty && chunks_.size() > 1) {
    unmap(*home);
    close(home->descriptor);
    chunks_.erase(reinterpret_cast<uintptr_t>(home->base));
  }
}

std::optional<shared_heap::location> shared_heap::locate(const void* address) {
  const std::lock_guard lock(mutex_);
  const chunk* home = chunk_of(address);
  if (home == nullptr) return std::nullopt;
  const auto offset = static_cast<uint64_t>(static_cast<const char*>(address) - home->base);
  return location{home->descriptor, offset, home->bytes + offset / granule_bytes_ * note_bytes};
}

}  // namespace zevent::driver
