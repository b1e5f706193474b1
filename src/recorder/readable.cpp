#include "recorder/readable.hpp"

#include <sys/mman.h>

#include <algorithm>

#include "recorder/write_watch.hpp"

namespace zevent::recorder {

bool is_mapped(const void* address, uint64_t bytes) {
  constexpr uint64_t pages_at_once = 256;
  unsigned char present[pages_at_once];
  const auto begin = reinterpret_cast<uint64_t>(address);
  uint64_t end = 0;
  if (__builtin_add_overflow(begin, bytes, &end)) return false;
  for (uint64_t at = begin / page_bytes * page_bytes; at < end;) {
    const uint64_t size = std::min(end - at, pages_at_once * page_bytes);
    if (mincore(reinterpret_cast<void*>(at), size, present) != 0) return false;
    at += pages_at_once * page_bytes;
  }
  return true;
}

}  // namespace zevent::recorder
