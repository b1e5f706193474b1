#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <limits>
#include <new>
#include <vector>

namespace zevent::recorder {

// Memory straight from the kernel, in whole pages, for what is made when a thread comes or a
// segment is full. That may be in a signal handler which interrupted the program's malloc(): to ask
// malloc() then would be to wait for oneself.
template <typename T>
struct mapped_allocator {
  using value_type = T;

  mapped_allocator() = default;
  template <typename U>
  mapped_allocator(const mapped_allocator<U>&) {}

  T* allocate(size_t count) {
    if (count > std::numeric_limits<size_t>::max() / sizeof(T)) throw std::bad_alloc();
    void* memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t count) { munmap(memory, count * sizeof(T)); }

  friend bool operator==(const mapped_allocator&, const mapped_allocator&) { return true; }
};

template <typename T>
using mapped_vector = std::vector<T, mapped_allocator<T>>;

// For a class whose objects are to be such memory, one by one.
template <typename T>
struct in_mapped_memory {
  static void* operator new(size_t) { return mapped_allocator<T>().allocate(1); }
  static void operator delete(void* memory) {
    mapped_allocator<T>().deallocate(static_cast<T*>(memory), 1);
  }
};

}  // namespace zevent::recorder
