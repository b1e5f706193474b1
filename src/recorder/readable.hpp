#pragma once

#include <cstdint>
#include <span>

namespace zevent::recorder {

// The recorder reads a call's arguments before the driver has looked at them. A program that passes
// garbage may rely on the error that the driver returns: what cannot be an address is not read, and
// where much would be read, the kernel is asked first whether it is there.

// Neither null nor in the first page, nor beyond what a process can have.
inline bool is_address(const void* address) {
  constexpr uint64_t first = 4096, end = uint64_t{1} << 56;
  return reinterpret_cast<uint64_t>(address) - first < end - first;
}

// Reads of fewer bytes are not worth asking the kernel.
inline constexpr uint64_t asked_for_bytes = uint64_t{64} << 10;

// Whether all pages are mapped.
bool is_mapped(const void* address, uint64_t bytes);

// Whether `count` elements of `element_bytes` each may be read there.
inline bool can_read(const void* address, uint64_t count, uint64_t element_bytes = 1) {
  if (!is_address(address)) return false;
  if (count < asked_for_bytes / element_bytes) [[likely]]
    return true;
  uint64_t bytes = 0;
  return !__builtin_mul_overflow(count, element_bytes, &bytes) && is_mapped(address, bytes);
}

// The elements, or none where they are not there.
template <typename T>
std::span<T> readable_span(T* first, uint64_t count) {
  return can_read(first, count, sizeof(T)) ? std::span<T>(first, count) : std::span<T>();
}

}  // namespace zevent::recorder
