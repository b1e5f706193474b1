#include "recorder/pass_through.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "recorder/child_recording.hpp"
#include "recorder/process_recording.hpp"

namespace zevent::recorder {
namespace {

uint64_t* new_counter_in(process_recording* present, std::string_view name) noexcept {
  if (present == nullptr) return nullptr;
  return present->new_counter(std::string(recording::passed_through_counter).append(name));
}

uint64_t* new_counter_for(std::string_view name) noexcept {
  return new_counter_in(process_recording::current(), name);
}

// Its calls cannot be counted: that there may be some is noted.
void* pass_through_uncounted(std::string_view name, void* target) noexcept {
  if (uint64_t* calls = new_counter_for(name)) std::atomic_ref(*calls).store(1);
  return target;
}

}  // namespace

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

// Names of the entries that were given out, and how many those are: release and acquire.
std::array<std::string, entry_count>& entry_names() {
  static auto* names = new std::array<std::string, entry_count>;
  return *names;
}
std::atomic<size_t> entries_used{0};

// In a forked child. What the parent's counters were has become memory of nobody.
void count_anew(process_recording& own) {
  const size_t used = entries_used.load(std::memory_order_acquire);
  for (size_t i = 0; i < used; ++i) {
    uint64_t* calls = new_counter_in(&own, entry_names()[i]);
    // relaxed: whoever jumps through the entry reads the old place or the new one.
    std::atomic_ref(zevent_pass_through_table[i].calls)
        .store(calls != nullptr ? calls : &calls_nobody_counts, std::memory_order_relaxed);
  }
}

// Guards `known` and the next free entry; an entry, once given out, keeps its target.
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
  if (index == entry_count) return pass_through_uncounted(name, target);
  uint64_t* calls = new_counter_for(name);
  zevent_pass_through_table[index].target = target;
  zevent_pass_through_table[index].calls = calls != nullptr ? calls : &calls_nobody_counts;
  void* entry = const_cast<std::byte*>(zevent_pass_through_entries + index * entry_bytes);
  known.emplace(key, entry);
  entry_names()[index] = key.first;
  entries_used.store(index + 1, std::memory_order_release);
  listen_to_child_recordings(&count_anew);
  return entry;
}

#else

void* count_and_pass_through(std::string_view name, void* target) noexcept {
  return pass_through_uncounted(name, target);
}

#endif

}  // namespace zevent::recorder
