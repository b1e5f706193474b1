#include "recorder/pass_through.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "recorder/process_recording.hpp"

namespace zevent::recorder {

#if defined(__x86_64__)

extern "C" {
// Read by the entries below.
[[gnu::visibility("hidden")]] extern struct {
  void* target;
  uint64_t* calls;
} zevent_pass_through_table[];
[[gnu::visibility("hidden")]] extern const std::byte zevent_pass_through_entries[];
}

// One entry per function: adds one to its count and jumps to its target. r11 and the flags are
// free to use between a call and the function called.
asm(R"(
    .pushsection .bss.zevent_pass_through,"aw",@nobits
    .balign 16
    .hidden zevent_pass_through_table
    .globl zevent_pass_through_table
zevent_pass_through_table:
    .zero 16 * 256
    .popsection

    .pushsection .text.zevent_pass_through,"ax",@progbits
    .balign 32
    .hidden zevent_pass_through_entries
    .globl zevent_pass_through_entries
zevent_pass_through_entries:
    .set entry, 0
    .rept 256
    .balign 32
    endbr64
    movq (zevent_pass_through_table + 16 * entry + 8)(%rip), %r11
    lock incq (%r11)
    jmp *(zevent_pass_through_table + 16 * entry)(%rip)
    .set entry, entry + 1
    .endr
    .balign 32
    .popsection
)");

namespace {

constexpr size_t entry_count = 256;
constexpr size_t entry_bytes = 32;

// A function that came while nothing was recorded counts here.
uint64_t calls_nobody_counts = 0;

// Guards `known` and the next free entry; an entry, once given out, does not change.
std::mutex entries_mutex;
std::map<std::pair<std::string, void*>, void*>& known_entries() {
  static auto* known = new std::map<std::pair<std::string, void*>, void*>;
  return *known;
}

}  // namespace

void* count_and_pass_through(std::string_view name, void* target) noexcept {
  const std::lock_guard lock(entries_mutex);
  auto& known = known_entries();
  const auto key = std::make_pair(std::string(name), target);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  const size_t index = known.size();
  if (index == entry_count) return target;
  auto* recording = process_recording::current();
  uint64_t* calls =
      recording != nullptr ? recording->new_counter("passed through " + key.first) : nullptr;
  zevent_pass_through_table[index].target = target;
  zevent_pass_through_table[index].calls = calls != nullptr ? calls : &calls_nobody_counts;
  void* entry = const_cast<std::byte*>(zevent_pass_through_entries + index * entry_bytes);
  known.emplace(key, entry);
  return entry;
}

#else

void* count_and_pass_through(std::string_view, void* target) noexcept {
  return target;
}

#endif

}  // namespace zevent::recorder
