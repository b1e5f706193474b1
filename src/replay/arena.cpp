#include "replay/arena.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace zevent::replay {
namespace {

constexpr uint64_t block_bytes = 4u << 20;

}  // namespace

result<mapped_memory> mapped_memory::make(uint64_t bytes, bool shared) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return fail("cannot get {} bytes: {}", bytes, std::strerror(errno));
  mapped_memory out;
  out.data_ = static_cast<std::byte*>(memory);
  out.bytes_ = bytes;
  return out;
}

mapped_memory::~mapped_memory() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

void mapped_memory::populate() const {
  constexpr int populate_write = 23;  // MADV_POPULATE_WRITE, which older headers lack
  if (data_ != nullptr) madvise(data_, bytes_, populate_write);
}

void arena::populate() const {
  for (const auto& each : blocks_) each.populate();
}

std::byte* arena::take(uint64_t bytes) {
  if (bytes > UINT64_MAX / 2) throw std::bad_alloc();
  const uint64_t rounded = (std::max<uint64_t>(bytes, 1) + alignment - 1) & ~(alignment - 1);
  if (rounded > static_cast<uint64_t>(end_ - next_)) {
    auto block = mapped_memory::make(std::max(rounded, block_bytes));
    if (!block) throw std::bad_alloc();
    blocks_.push_back(std::move(*block));
    // What is larger than a block gets its own, and the one in use goes on.
    if (rounded > block_bytes) {
      used_ += rounded;
      return blocks_.back().data();
    }
    next_ = blocks_.back().data();
    end_ = next_ + blocks_.back().size();
  }
  std::byte* piece = next_;
  next_ += rounded;
  used_ += rounded;
  return piece;
}

}  // namespace zevent::replay
