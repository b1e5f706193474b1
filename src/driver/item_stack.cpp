#include "driver/item_stack.hpp"

#include <sys/mman.h>

#include <algorithm>

#include "driver/alignment.hpp"

// This file and item_meeting.cpp, which run on stacks that a sanitizer knows nothing of, are
// compiled without any.

#if !defined(__x86_64__)
#error "work-items that run apart need a switch of stacks, which is written for x86-64 only"
#endif

// Saves the registers that a function has to leave as they are. The floating-point modes are the
// same on all stacks of a thread.
asm(R"(
.text
.p2align 4
.type zevent_switch_stack, @function
.local zevent_switch_stack
zevent_switch_stack:
  .cfi_startproc
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  retq
  .cfi_endproc
.size zevent_switch_stack, .-zevent_switch_stack

.p2align 4
.type zevent_start_stack, @function
.local zevent_start_stack
zevent_start_stack:
  .cfi_startproc
  .cfi_undefined %rip
  movq %r12, %rdi
  callq *%rbx
  ud2
  .cfi_endproc
.size zevent_start_stack, .-zevent_start_stack
)");

extern "C" {
void zevent_switch_stack(void** own_place, void* other_place);
void zevent_start_stack();
}

namespace zevent::driver {
namespace {

constexpr size_t stacks_at_once = 64;
constexpr size_t colour_bytes = 192;
constexpr size_t colours = 64;

}  // namespace

void switch_stack(void** own_place, void* other_place) {
  zevent_switch_stack(own_place, other_place);
}

void* start_of_stack(void* upper_end, void (*function)(void*), void* argument) {
  auto* place = reinterpret_cast<void**>(reinterpret_cast<uintptr_t>(upper_end) & ~uintptr_t{15});
  // What the switch takes from it; the call then finds the stack aligned as it wants it.
  *--place = nullptr;
  *--place = nullptr;
  *--place = reinterpret_cast<void*>(&zevent_start_stack);
  *--place = nullptr;                              // rbp: the outermost frame
  *--place = reinterpret_cast<void*>(function);    // rbx
  *--place = argument;                             // r12
  for (int i = 0; i < 3; ++i) *--place = nullptr;  // r13 to r15
  return place;
}

item_stacks::~item_stacks() {
  release();
}

void item_stacks::release() {
  for (const mapping& each : mappings_) ::munmap(each.start, each.bytes);
  mappings_.clear();
  stacks_.clear();
}

bool item_stacks::provide(size_t count, size_t bytes) {
  bytes = (bytes + colour_bytes * colours + 2 * page_bytes - 1) / page_bytes * page_bytes;
  if (bytes > bytes_) {
    release();
    bytes_ = bytes;
  }
  while (stacks_.size() < count) {
    const size_t added = std::min(stacks_at_once, count);
    void* memory = ::mmap(nullptr, added * bytes_, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    mappings_.push_back({static_cast<char*>(memory), added * bytes_});
    for (size_t i = 0; i < added; ++i) {
      char* start = static_cast<char*>(memory) + i * bytes_;
      // A system that does not allow so many mappings has no guards.
      static_cast<void>(::mprotect(start, page_bytes, PROT_NONE));
      stacks_.push_back(start);
    }
  }
  free_.resize(stacks_.size());
  for (size_t i = 0; i < free_.size(); ++i) free_[i] = static_cast<uint32_t>(free_.size() - 1 - i);
  return true;
}

uint32_t item_stacks::take() {
  const uint32_t taken = free_.back();
  free_.pop_back();
  return taken;
}

void* item_stacks::upper_end(uint32_t stack) const {
  return stacks_[stack] + bytes_ - stack % colours * colour_bytes;
}

}  // namespace zevent::driver
