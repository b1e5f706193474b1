#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zevent::driver {

// Goes on at another stack and comes back when somebody goes on at this one, whose place it leaves
// in `own_place`.
void switch_stack(void** own_place, void* other_place);

// Where to switch to, to call `function(argument)` on an empty stack, from which it never returns.
void* start_of_stack(void* upper_end, void (*function)(void*), void* argument);

// Stacks for as many work-items as a group has, kept from one group to the next.
class item_stacks {
 public:
  item_stacks() = default;
  ~item_stacks();
  item_stacks(const item_stacks&) = delete;
  item_stacks& operator=(const item_stacks&) = delete;

  // False where the system has no memory for them. None is to be taken at that time.
  bool provide(size_t count, size_t bytes);

  // Takes one of those provided, the last that was given back if there is one, for that is still in
  // the processor's caches.
  uint32_t take();
  void give_back(uint32_t stack) { free_.push_back(stack); }
  // Stacks start at various distances from a page, so that they do not fight for the same lines of
  // the caches.
  void* upper_end(uint32_t stack) const;

 private:
  struct mapping {
    char* start;
    size_t bytes;
  };
  void release();

  size_t bytes_ = 0;  // of a stack, with the page that guards its end
  std::vector<mapping> mappings_;
  std::vector<char*> stacks_;   // lower ends
  std::vector<uint32_t> free_;  // the next to take last
};

}  // namespace zevent::driver
