#include "recorder/plain_memory.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace zevent::recorder {
namespace {

// A block of glibc's heap, with its header before what the program gets:
//
//   header      u64   size of the block before, if that is free
//               u64   size of this block with its header; the lowest three bits are flags
//   address →   what the program gets: up to and with the first word of the next header, unless
//               the block is a mapping of its own
struct block_header {
  uint64_t size_before;
  uint64_t size_and_flags;
  uint64_t size() const { return size_and_flags & ~uint64_t{7}; }
};
constexpr uint64_t is_block_before_in_use = 1;
constexpr uint64_t is_mapping = 2;
constexpr uint64_t block_alignment = 16;
constexpr uint64_t min_block_bytes = 32;
constexpr uint64_t max_block_bytes = uint64_t{1} << 40;

// False where it cannot be read, or where the system does not let anyone try.
bool probe(uint64_t address, void* to, size_t bytes) {
  const iovec target{to, bytes};
  const iovec source{reinterpret_cast<void*>(address), bytes};
  return process_vm_readv(getpid(), &target, 1, &source, 1, 0) == static_cast<ssize_t>(bytes);
}

std::optional<block_header> header_at(uint64_t address) {
  block_header header{};
  if (!probe(address, &header, sizeof(header))) return std::nullopt;
  return header;
}

}  // namespace

std::optional<address_range> heap_block_at(uint64_t address) {
  if (address % block_alignment != 0 || address < page_bytes) return std::nullopt;
  const uint64_t begin = address - sizeof(block_header);
  const auto header = header_at(begin);
  if (!header) return std::nullopt;
  const uint64_t bytes = header->size();
  if (bytes < min_block_bytes || bytes > max_block_bytes || bytes % block_alignment != 0)
    return std::nullopt;
  if ((header->size_and_flags & is_mapping) != 0) {
    const uint64_t mapping = begin - header->size_before;
    const bool is_whole =
        mapping % page_bytes == 0 && (bytes + header->size_before) % page_bytes == 0;
    char last = 0;
    if (!is_whole || !probe(begin + bytes - 1, &last, 1)) return std::nullopt;
    return address_range{address, begin + bytes};
  }
  const auto next = header_at(begin + bytes);
  if (!next || (next->size_and_flags & is_block_before_in_use) == 0 ||
      next->size() > max_block_bytes)
    return std::nullopt;
  return address_range{address, begin + bytes + sizeof(uint64_t)};
}

address_range writable_from(uint64_t address, uint64_t limit_bytes) {
  std::FILE* maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return {address, address};
  address_range found{address, address};
  char line[512];
  bool at_beginning = true;  // of a line; long ones come in pieces
  while (std::fgets(line, sizeof(line), maps) != nullptr) {
    const bool is_whole = std::find(line, line + sizeof(line), '\n') != line + sizeof(line);
    unsigned long begin = 0, end = 0;
    char rights[5] = {};
    if (std::exchange(at_beginning, is_whole) &&
        std::sscanf(line, "%lx-%lx %4s", &begin, &end, rights) == 3 && begin <= address &&
        address < end && rights[0] == 'r' && rights[1] == 'w') {
      found.end = begin == address ? end : std::min<uint64_t>(end, address + limit_bytes);
      break;
    }
  }
  std::fclose(maps);
  return found;
}

}  // namespace zevent::recorder
