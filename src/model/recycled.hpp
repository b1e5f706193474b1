#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace zevent::model {

// Memory for small things that come and go with every call: what one gives back, the next one gets,
// and nothing is given back before the thread ends. Under the address sanitizer each has memory of
// its own, so that a use after the end is seen.
template <typename T>
class recycled {
 public:
#if !defined(__SANITIZE_ADDRESS__)
  static void* operator new(size_t bytes) {
    free_list& spare = list();
    if (spare.first == nullptr || bytes != sizeof(T)) return ::operator new(bytes);
    return std::exchange(spare.first, spare.first->next);
  }
  static void operator delete(void* memory, size_t bytes) {
    if (bytes != sizeof(T)) return ::operator delete(memory);
    free_list& spare = list();
    spare.first = new (memory) item{spare.first};
  }

 private:
  struct item {
    item* next;
  };
  struct free_list {
    item* first = nullptr;
    ~free_list() {
      while (first != nullptr) ::operator delete(std::exchange(first, first->next));
    }
  };
  static free_list& list() {
    static_assert(sizeof(T) >= sizeof(item) && alignof(T) <= alignof(std::max_align_t));
    static thread_local free_list spare;
    return spare;
  }
#endif
};

}  // namespace zevent::model
