#include "recorder/plain_memory.hpp"

#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <string_view>
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

// Field 47 of /proc/self/stat. The name of the program, field 2, may hold blanks and parentheses.
uint64_t find_heap_begin() {
  constexpr int fields_after_name = 45;
  std::FILE* file = std::fopen("/proc/self/stat", "re");
  if (file == nullptr) return 0;
  std::array<char, 1024> text{};
  const size_t bytes = std::fread(text.data(), 1, text.size() - 1, file);
  std::fclose(file);
  std::string_view rest(text.data(), bytes);
  rest.remove_prefix(std::min(rest.rfind(')'), rest.size()));
  for (int field = 0; field < fields_after_name; ++field) {
    const size_t blank = rest.find(' ');
    if (blank == rest.npos) return 0;
    rest.remove_prefix(blank + 1);
  }
  uint64_t begin = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), begin);
  return begin;
}

}  // namespace

plain_address_space plain_addresses() {
  // Mappings are made from below the stack downwards: nearly all are within this distance.
  constexpr uint64_t mappings_bytes = uint64_t{1} << 40;
  static const uint64_t heap_begin = find_heap_begin();
  // The first stack: the kernel puts 16 random bytes near its upper end.
  static const uint64_t stack_end = getauxval(AT_RANDOM);
  const auto heap_end = reinterpret_cast<uint64_t>(sbrk(0));
  plain_address_space space{};
  if (heap_begin != 0 && heap_begin < heap_end) space.heap = {heap_begin, heap_end};
  if (stack_end > mappings_bytes) space.mappings = {stack_end - mappings_bytes, stack_end};
  return space;
}

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
