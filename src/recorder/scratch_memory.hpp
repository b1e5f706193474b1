#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace zevent::recorder {

// Memory straight from the kernel, in which one record is put together.
//
// A thread keeps what its last record left. Whoever takes it, takes it away, in one instruction: a
// call that a signal handler makes in the middle of such a record finds none and gets its own.
class scratch_memory {
 public:
  // Where a thread keeps it. relaxed is enough: only the thread itself, and the handlers that
  // interrupt it, come here.
  using keeper = std::atomic<scratch_memory*>;

  // At least so much behind the begin: what was kept, or new. There may be no keeper.
  static scratch_memory* take(keeper* kept, uint64_t bytes) {
    auto* memory = kept != nullptr ? kept->exchange(nullptr, std::memory_order_relaxed) : nullptr;
    if (memory != nullptr && memory->has(bytes)) return memory;
    free(memory);
    return make(bytes);
  }
  static void give_back(keeper* kept, scratch_memory* memory) {
    free(kept != nullptr ? kept->exchange(memory, std::memory_order_relaxed) : memory);
  }
  static void free(scratch_memory* memory) {
    if (memory != nullptr) munmap(memory, memory->mapped_bytes_);
  }

  // The same content in at least so much; this one is not to be used any more. When there is no
  // memory it stays what it is.
  scratch_memory* grown(uint64_t bytes) {
    if (has(bytes)) return this;
    const uint64_t wanted = sizeof(scratch_memory) + bytes;
    void* moved = mremap(this, mapped_bytes_, wanted, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED) throw std::bad_alloc();
    auto* memory = static_cast<scratch_memory*>(moved);
    memory->mapped_bytes_ = wanted;
    return memory;
  }

  std::byte* begin() { return reinterpret_cast<std::byte*>(this + 1); }
  std::byte* end() { return reinterpret_cast<std::byte*>(this) + mapped_bytes_; }

 private:
  bool has(uint64_t bytes) const { return sizeof(scratch_memory) + bytes <= mapped_bytes_; }
  explicit scratch_memory(uint64_t mapped_bytes) : mapped_bytes_(mapped_bytes) {}
  static scratch_memory* make(uint64_t bytes) {
    const uint64_t mapped_bytes = sizeof(scratch_memory) + bytes;
    void* memory =
        mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    return new (memory) scratch_memory(mapped_bytes);
  }

  uint64_t mapped_bytes_;
};

}  // namespace zevent::recorder
