#pragma once

#include <cstdint>
#include <optional>

#include "recorder/write_watch.hpp"

namespace zevent::recorder {

// Memory of the program's own (of malloc, of mmap, of a stack), whose size no call gives.

// The block of glibc's heap that begins at the address, as far as what stands before and behind it
// is what stands around such a block. Any address may be asked for: nothing is read that cannot be.
std::optional<address_range> heap_block_at(uint64_t address);

// Where addresses of plain memory are: in the heap, or where the system puts mappings and stacks.
// Words outside of it are none; those inside mostly are.
struct plain_address_space {
  address_range heap;
  address_range mappings;
  bool contains(uint64_t word) const {
    return word - heap.begin < heap.size() || word - mappings.begin < mappings.size();
  }
};
plain_address_space plain_addresses();

// What can be written from the address on: to the end of the mapping where it begins there, as what
// mmap gives does; else no more than `limit_bytes`. Empty when nothing can be.
address_range writable_from(uint64_t address, uint64_t limit_bytes);

}  // namespace zevent::recorder
