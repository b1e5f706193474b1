#include "replay/player.hpp"

#include <algorithm>
#include <cstring>

#include "api/result_code.hpp"
#include "base/futex.hpp"
#include "replay/call_clock.hpp"
#include "replay/invocation.hpp"

namespace zevent::replay {
namespace {

constexpr int spins_before_sleep = 200;
// Sleeping is not exact: so much before a call is due its thread stays awake.
constexpr uint64_t awake_before_ns = 80'000;

void pause_processor() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

}  // namespace

player::player(const program& what, driver_library& driver, const journal& log,
               const play_options& options)
    : program_(what),
      journal_(log),
      options_(options),
      targets_(api::builtin_model().functions.size()),
      gives_result_(api::builtin_model().functions.size()),
      live_(what.slot_count),
      live_opaque_(what.opaque_count),
      threads_(std::make_unique<turn_taker[]>(what.threads.size())),
      alone_(what.threads.size() == 1) {
  const auto& model = api::builtin_model();
  for (const uint32_t function : what.functions()) {
    targets_[function] = driver.find(model.functions[function]);
    gives_result_[function] =
        model.types[model.functions[function].result_type].name == "ze_result_t";
  }
  for (const auto& each : what.extras)
    for (const auto& added : each.added)
      if (targets_[added.function] == nullptr)
        targets_[added.function] = driver.find(model.functions[added.function]);
}

void player::run() {
  if (program_.calls.empty()) return;
  start_ns_ = clock_ns();
  const uint32_t first = program_.calls.front().thread;
  threads_[first].started = true;
  threads_[first].turn.store(1, std::memory_order_relaxed);
  run_thread(first);
  if (!alone_) wait_for(end_, end_.turn, 1);
  for (uint32_t i = 0; i < program_.threads.size(); ++i)
    if (threads_[i].thread.joinable()) threads_[i].thread.join();
  for (const uint32_t each : program_.looks_at_end) look(program_.looks[each]);
}

void player::run_thread(uint32_t thread) {
  auto& self = threads_[thread];
  bool has_baton = alone_;
  for (const uint32_t index : program_.threads[thread].calls) {
    if (!has_baton) wait_for(self, self.turn, index + 1);
    const bool next_is_mine =
        index + 1 < program_.calls.size() && program_.calls[index + 1].thread == thread;
    has_baton = next_is_mine;
    make_call(index, !alone_ && !next_is_mine);
  }
}

void player::make_call(uint32_t index, bool passes_baton) {
  const compiled_call& call = program_.calls[index];
  journal_entry& entry = journal_.calls()[index];
  const call_extras* extras = program_.extras_of(call);
  if (extras != nullptr) [[unlikely]]
    prepare(*extras);
  if (options_.speed == pace::recorded) wait_until_due(call);
  if (patch_arguments(call, entry)) [[likely]] {
    if (passes_baton && call.lets_next_go) pass_baton_to(index + 1);
    entry.start_ticks = call_clock::ticks();
    // Relaxed: whoever watches looks at it now and then, and a moment later it is there.
    entry.state.store(call_state::under_way, std::memory_order_relaxed);
    const uint64_t result = invocations[call.function](targets_[call.function], call.slots);
    entry.duration_ticks = call_clock::ticks() - entry.start_ticks;
    finish(call, extras, result);
    entry.detail = gives_result_[call.function] != 0 ? static_cast<uint32_t>(result) : 0;
    entry.state.store(call_state::returned, std::memory_order_release);
  } else if (passes_baton && call.lets_next_go) {
    pass_baton_to(index + 1);
  }
  if (alone_) return;
  auto& self = threads_[call.thread];
  tell(self, self.completed, index + 1);
  if (passes_baton && !call.lets_next_go) pass_baton_to(index + 1);
}

bool player::patch_arguments(const compiled_call& call, journal_entry& entry) {
  if (targets_[call.function] == nullptr) [[unlikely]] {
    entry.detail = journal_entry::no_function;
    entry.state.store(call_state::impossible, std::memory_order_release);
    return false;
  }
  const auto* patch = program_.patches.data() + call.first_patch;
  for (const auto* end = patch + call.patches; patch != end; ++patch) {
    const uint64_t value = live_[index_of(patch->slot)];
    if (value == 0) [[unlikely]] {
      entry.detail = index_of(patch->slot);
      entry.state.store(call_state::impossible, std::memory_order_release);
      return false;
    }
    *patch->place = value + patch->offset;
  }
  return true;
}

// Before a call: memory as the program had made it, and handles that are more than a number.
void player::prepare(const call_extras& extras) {
  for (const uint32_t earlier : extras.waits_for) {
    auto& who = threads_[program_.calls[earlier].thread];
    wait_for(who, who.completed, earlier + 1);
  }
  for (const auto& memory : extras.memory_before) {
    patch_content(memory);
    restore(memory);
  }
  for (const uint32_t each : extras.looks_before) look(program_.looks[each]);
  for (const auto& each : extras.added) make_added(each);
  for (const auto& patch : extras.opaque_inputs)
    std::memcpy(patch.place, live_opaque_[static_cast<uint32_t>(patch.handle)].data(),
                opaque_bytes);
}

namespace {

uint64_t hash_of(const std::byte* bytes, uint64_t count) {
  constexpr uint64_t multiplier = 0x9e3779b97f4a7c15;
  uint64_t hash = count;
  for (uint64_t i = 0; i < count; i += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + i, std::min<uint64_t>(sizeof(word), count - i));
    hash = (hash ^ word) * multiplier;
    hash ^= hash >> 29;
  }
  return hash == 0 ? 1 : hash;
}

}  // namespace

void player::look(const memory_look& at) const {
  const std::byte* memory = at.host;
  if (memory == nullptr) {
    const uint64_t base = live_[index_of(at.device.slot)];
    if (base == 0) return;
    memory = reinterpret_cast<const std::byte*>(base + at.device.offset);
  }
  const auto hashes = journal_.hashes().subspan(at.first_hash, at.pieces());
  for (uint64_t i = 0; i < hashes.size(); ++i) {
    const uint64_t offset = i * memory_look::piece_bytes;
    hashes[i] = hash_of(memory + offset, std::min(memory_look::piece_bytes, at.bytes - offset));
  }
}

// A barrier without wait events, or a wait without a time limit: null handles and zeros otherwise.
void player::make_added(const added_call& call) {
  const uint64_t object = live_[index_of(call.object)];
  if (object == 0 || targets_[call.function] == nullptr) return;
  const bool is_wait = api::builtin_model().functions[call.function].name.find("Synchronize") !=
                       std::string_view::npos;
  const uint64_t slots[] = {object, is_wait ? UINT64_MAX : 0, 0, 0};
  invocations[call.function](targets_[call.function], slots);
}

// Where the memory is now; null when it is not there.
std::byte* player::locate(const memory_restore& memory) const {
  if (memory.host != nullptr) return memory.host;
  const uint64_t base = live_[index_of(memory.device.slot)];
  return base == 0 ? nullptr : reinterpret_cast<std::byte*>(base + memory.device.offset);
}

void player::patch_content(const memory_restore& memory) {
  for (const auto& patch : memory.patches) {
    const uint64_t value = live_[index_of(patch.slot)];
    if (value != 0) *patch.place = value + patch.offset;
  }
}

void player::restore(const memory_restore& memory) {
  std::byte* target = locate(memory);
  if (target == nullptr) return;
  if (memory.at_least) {
    uint64_t wanted = 0;
    std::memcpy(&wanted, memory.content, sizeof(wanted));
    // Release, for whoever waits for the number.
    const std::atomic_ref<uint64_t> counter(*reinterpret_cast<uint64_t*>(target));
    if (counter.load(std::memory_order_relaxed) < wanted)
      counter.store(wanted, std::memory_order_release);
    return;
  }
  if (std::memcmp(target, memory.content, memory.bytes) != 0)
    std::memcpy(target, memory.content, memory.bytes);
}

void player::compare(const compiled_call& call, const memory_restore& memory) {
  const std::byte* found = locate(memory);
  if (found == nullptr) return;
  auto& header = journal_.header();
  header.compared_bytes.fetch_add(memory.bytes, std::memory_order_relaxed);
  if (std::memcmp(found, memory.content, memory.bytes) == 0) return;
  const auto first = static_cast<uint64_t>(
      std::mismatch(found, found + memory.bytes, memory.content).first - found);
  uint64_t count = 0;
  for (uint64_t i = first; i < memory.bytes; ++i) count += found[i] != memory.content[i] ? 1u : 0u;
  const uint32_t place = header.memory_differences.fetch_add(1, std::memory_order_relaxed);
  if (place >= journal_header::most_memory_differences) return;
  header.memory[place] = {call.number,
                          index_of(memory.device.slot),
                          memory.device.offset + first,
                          count,
                          static_cast<uint8_t>(memory.content[first]),
                          static_cast<uint8_t>(found[first])};
}

// After a call: what it put out. A call that failed put out nothing, unless it did so in the
// recording too: a module that is not built comes with a log.
void player::finish(const compiled_call& call, const call_extras* extras, uint64_t result) {
  const bool failed =
      gives_result_[call.function] != 0 && api::is_error(static_cast<uint32_t>(result));
  if (failed && static_cast<uint32_t>(result) != call.result) return;
  const auto* taken = program_.captures.data() + call.first_capture;
  for (const auto* end = taken + call.captures; taken != end; ++taken)
    if (*taken->place != 0) live_[index_of(taken->slot)] = *taken->place;
  if (extras == nullptr) [[likely]]
    return;
  for (const uint32_t each : extras->looks_after) look(program_.looks[each]);
  if (extras->returned) live_[index_of(*extras->returned)] = result;
  for (const auto& patch : extras->opaque_outputs)
    std::memcpy(live_opaque_[static_cast<uint32_t>(patch.handle)].data(), patch.place,
                opaque_bytes);
  // What the host found after a wait. Where the replay did not wait as long, it is not there yet.
  if (static_cast<uint32_t>(result) == call.result && call.returned) {
    for (const auto& memory : extras->memory_after) {
      patch_content(memory);
      if (options_.compare_memory) compare(call, memory);
      if (options_.restore_after_waits) restore(memory);
    }
  }
  if (extras->fetched_place != nullptr && *extras->fetched_place != 0)
    if (const auto* function = api::builtin_model().find_function(extras->fetched_function))
      targets_[api::builtin_model().index_of(*function)] =
          reinterpret_cast<void*>(*extras->fetched_place);
}

void player::wait_until_due(const compiled_call& call) const {
  const uint64_t due = start_ns_ + (call.start_ns - program_.calls.front().start_ns);
  for (uint64_t now = clock_ns(); now < due; now = clock_ns()) {
    if (due - now <= awake_before_ns) {
      pause_processor();
      continue;
    }
    const uint64_t rest = due - now - awake_before_ns;
    const timespec length{static_cast<time_t>(rest / 1'000'000'000u),
                          static_cast<long>(rest % 1'000'000'000u)};
    nanosleep(&length, nullptr);
  }
}

void player::pass_baton_to(uint32_t index) {
  if (index == program_.calls.size()) return tell(end_, end_.turn, 1);
  const uint32_t thread = program_.calls[index].thread;
  auto& next = threads_[thread];
  tell(next, next.turn, index + 1);
  if (!next.started) {
    next.started = true;
    next.thread = std::thread([this, thread] { run_thread(thread); });
  }
}

// The sleeper announces itself before it looks at the word again, and whoever changes the word
// looks for sleepers afterwards: with both in one total order (seq_cst), one of the two sees the
// other.
void player::wait_for(turn_taker& who, std::atomic<uint32_t>& word, uint32_t least) {
  for (int i = 0; i < spins_before_sleep; ++i) {
    if (word.load(std::memory_order_acquire) >= least) return;
    pause_processor();
  }
  who.sleepers.fetch_add(1, std::memory_order_seq_cst);
  for (uint32_t seen = word.load(std::memory_order_seq_cst); seen < least;
       seen = word.load(std::memory_order_seq_cst))
    futex_wait(word, seen, futex_scope::process);
  who.sleepers.fetch_sub(1, std::memory_order_relaxed);
}

void player::tell(turn_taker& who, std::atomic<uint32_t>& word, uint32_t value) {
  word.store(value, std::memory_order_seq_cst);
  if (who.sleepers.load(std::memory_order_seq_cst) != 0) futex_wake(word, futex_scope::process);
}

}  // namespace zevent::replay
