#include "replay/player.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "api/result_code.hpp"
#include "base/pause_processor.hpp"
#include "replay/call_clock.hpp"
#include "replay/invocation.hpp"

namespace zevent::replay {
namespace {

// Sleeping is not exact: so much before a call is due its thread stays awake.
constexpr uint64_t awake_before_ns = 80'000;

int32_t descriptor_in(const std::byte* handle) {
  int32_t descriptor = 0;
  std::memcpy(&descriptor, handle, sizeof(descriptor));
  return descriptor;
}

// Commands may be reading the rest of it.
void write_what_differs(std::byte* target, const std::byte* content, size_t bytes) {
  constexpr size_t step = 64;
  for (size_t at = 0; at < bytes; at += step) {
    const size_t end = std::min(at + step, bytes);
    if (std::memcmp(target + at, content + at, end - at) == 0) continue;
    for (size_t i = at; i < end; ++i)
      if (target[i] != content[i]) target[i] = content[i];
  }
}

}  // namespace

player::player(const program& what, driver_library& driver, const journal& log,
               const meeting_place& place, const play_options& options)
    : program_(what),
      journal_(log),
      place_(place),
      options_(options),
      targets_(api::builtin_model().functions.size()),
      gives_result_(api::builtin_model().functions.size()),
      live_(what.slot_count),
      threads_(what.threads.size()),
      alone_(what.turns.empty()) {
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
  if (!options.compare_memory) return;
#define ZEVENT_FIND_CALL(name) \
  copy_calls_.name = reinterpret_cast<decltype(&::name)>(driver.find(*model.find_function(#name)));
  ZEVENT_MEMORY_COPY_CALLS(ZEVENT_FIND_CALL)
#undef ZEVENT_FIND_CALL
  context_destroy_ = model.index_of(*model.find_function("zeContextDestroy"));
}

void player::run() {
  if (program_.calls.empty()) return;
  const uint32_t first = program_.calls.front().thread;
  threads_[first].started = true;
  if (place_.is_of_several()) start_others(first);
  const bool is_first_of_all = alone_ || program_.turns.front().position == 0;
  if (is_first_of_all) {
    // Relaxed: whoever gets the baton later sees it.
    place_.start_ns().store(clock_ns(), std::memory_order_relaxed);
    if (!alone_) place_.pass_turn(program_.first_taker + first, 0);
  }
  run_thread(first);
  if (!alone_) place_.wait_for_end();
  for (auto& each : threads_)
    if (each.thread.joinable()) each.thread.join();
  for (const uint32_t each : program_.looks_at_end) look(program_.looks[each]);
}

void player::run_thread(uint32_t thread) {
  const uint32_t self = program_.first_taker + thread;
  bool has_baton = alone_;
  for (const uint32_t index : program_.threads[thread].calls) {
    if (!has_baton) {
      place_.wait_for_turn(self, program_.turns[index].position);
      // Acquire: what threads of this process did, even if the baton came from another process.
      (void)handed_over_.load(std::memory_order_acquire);
    }
    has_baton = alone_ || program_.turns[index].next_taker == self;
    make_call(index, !has_baton);
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
    if (call.function == context_destroy_) [[unlikely]]
      release_reader(call.slots[0]);
    if (passes_baton && call.lets_next_go) pass_baton(index);
    entry.start_ticks = call_clock::ticks();
    // Relaxed: whoever watches looks at it now and then, and a moment later it is there.
    entry.state.store(call_state::under_way, std::memory_order_relaxed);
    uint64_t result = invocations[call.function](targets_[call.function], call.slots);
    entry.duration_ticks = call_clock::ticks() - entry.start_ticks;
    entry.first_answer = gives_result_[call.function] != 0 ? static_cast<uint32_t>(result) : 0;
    if (call.until_done) [[unlikely]]
      result = ask_until_done(call, entry, result);
    if (extras != nullptr) [[unlikely]]
      for (const auto& patch : extras->opaque_inputs) put_handle_back(patch);
    finish(call, extras, result);
    entry.detail = gives_result_[call.function] != 0 ? static_cast<uint32_t>(result) : 0;
    entry.state.store(call_state::returned, std::memory_order_release);
  } else if (passes_baton && call.lets_next_go) {
    pass_baton(index);
  }
  if (alone_) return;
  place_.tell_completed(program_.first_taker + call.thread, program_.turns[index].position);
  if (passes_baton && !call.lets_next_go) pass_baton(index);
}

// The program went on when it was told "done". Another thread may have to signal what it asks
// about, and needs a processor. Whether it takes too long is for the supervisor to say.
uint64_t player::ask_until_done(const compiled_call& call, journal_entry& entry, uint64_t answer) {
  constexpr uint64_t asks_at_full_speed = 64;
  uint64_t asks = 1;
  while (static_cast<uint32_t>(answer) == answer_not_yet) {
    entry.asks.store(asks, std::memory_order_relaxed);
    if (++asks > asks_at_full_speed) sched_yield();
    answer = invocations[call.function](targets_[call.function], call.slots);
  }
  entry.asks.store(asks, std::memory_order_relaxed);
  return answer;
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
  for (const auto& earlier : extras.waits_for)
    place_.wait_for_completed(earlier.taker, earlier.position);
  for (const auto& memory : extras.memory_before) {
    patch_content(memory);
    restore(memory);
  }
  for (const uint32_t each : extras.looks_before) look(program_.looks[each]);
  for (const auto& each : extras.added) make_added(each);
  for (const auto& patch : extras.opaque_inputs) take_handle(patch);
}

void player::take_handle(const opaque_patch& patch) const {
  const auto& handle = place_.handle(patch.handle);
  if (handle.owner == 0) return;  // its bytes are as recorded
  std::memcpy(patch.place, handle.bytes.data(), opaque_bytes);
  if (!patch.with_descriptor || handle.owner == getpid()) return;
  // Where the kernel does not allow it, the driver may still find a way by itself.
  int32_t descriptor = descriptor_in(patch.place);
  const long owner = syscall(SYS_pidfd_open, handle.owner, 0);
  if (owner < 0) return;
  const long own = syscall(SYS_pidfd_getfd, static_cast<int>(owner), descriptor, 0);
  close(static_cast<int>(owner));
  if (own < 0) return;
  descriptor = static_cast<int32_t>(own);
  std::memcpy(patch.place, &descriptor, sizeof(descriptor));
}

// The driver has opened the handle, and has no use for the descriptor that came with it.
void player::put_handle_back(const opaque_patch& patch) const {
  const auto& handle = place_.handle(patch.handle);
  if (!patch.with_descriptor || handle.owner == 0 || handle.owner == getpid()) return;
  const int32_t own = descriptor_in(patch.place);
  if (own != descriptor_in(handle.bytes.data())) close(own);
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

// The piece of the memory at this offset, as it is without times of the device and with pointers
// into allocations that are the same in every run.
class comparable_piece {
 public:
  comparable_piece(const memory_look& at, const std::byte* memory, uint64_t offset)
      : bytes_(std::min(memory_look::piece_bytes, at.bytes - offset)) {
    std::copy_n(memory + offset, bytes_, content_.begin());
    for (const auto& each : at.times) {
      const uint64_t first = std::max(each.first, offset);
      const uint64_t end = std::min(each.end(), offset + bytes_);
      if (first < end) std::fill_n(content_.begin() + (first - offset), end - first, std::byte{});
    }
  }

  // What points into an allocation becomes a number that tells which, and where.
  template <typename Find>
  void name_pointers(Find find) {
    for (uint64_t i = 0; i + sizeof(uint64_t) <= bytes_; i += sizeof(uint64_t)) {
      uint64_t word = 0;
      std::memcpy(&word, &content_[i], sizeof(word));
      if (const auto named = find(word)) std::memcpy(&content_[i], &*named, sizeof(*named));
    }
  }

  uint64_t hash() const { return hash_of(content_.data(), bytes_); }

 private:
  std::array<std::byte, memory_look::piece_bytes> content_{};
  uint64_t bytes_;
};

}  // namespace

// Which allocation of those that are looked at the address is in, and where.
std::optional<uint64_t> player::name_of_place(uint64_t address) const {
  for (const auto& each : program_.looks) {
    if (each.host != nullptr || each.device.offset != 0) continue;
    const uint64_t base = live_[index_of(each.device.slot)];
    if (base == 0 || address < base || address - base >= each.bytes) continue;
    return (uint64_t{0xf00d} << 48) ^ (uint64_t{index_of(each.device.slot)} << 32) ^
           (address - base);
  }
  return std::nullopt;
}

void player::look(const memory_look& at) const {
  const std::byte* memory = at.host;
  if (memory == nullptr) {
    const uint64_t base = live_[index_of(at.device.slot)];
    if (base == 0) return;
    memory = reinterpret_cast<const std::byte*>(base + at.device.offset);
  }
  uint64_t lowest = UINT64_MAX, highest = 0;
  for (const auto& each : program_.looks) {
    const uint64_t base = each.host != nullptr ? 0 : live_[index_of(each.device.slot)];
    if (base == 0) continue;
    lowest = std::min(lowest, base);
    highest = std::max(highest, base + each.device.offset + each.bytes);
  }
  const auto hashes = journal_.hashes().subspan(at.first_hash, at.pieces());
  for (uint64_t i = 0; i < hashes.size(); ++i) {
    const uint64_t offset = i * memory_look::piece_bytes;
    comparable_piece piece(at, memory, offset);
    piece.name_pointers([&](uint64_t word) -> std::optional<uint64_t> {
      // Most words are no address of anything.
      if (word < lowest || word >= highest) return std::nullopt;
      return name_of_place(word);
    });
    hashes[i] = piece.hash();
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
    write_what_differs(target, memory.content, memory.bytes);
}

void player::release_reader(uint64_t context) {
  const std::lock_guard lock(reader_mutex_);
  reader_.release(reinterpret_cast<ze_context_handle_t>(context));
}

bool player::read_through_driver(const memory_restore& memory, std::span<std::byte> target) {
  if (!memory.owner) return false;
  const uint64_t context = live_[index_of(memory.owner->context)];
  const uint64_t device = live_[index_of(memory.owner->device)];
  const uint64_t base = live_[index_of(memory.device.slot)];
  if (context == 0 || device == 0 || base == 0) return false;
  const std::lock_guard lock(reader_mutex_);
  return reader_.read(reinterpret_cast<ze_context_handle_t>(context),
                      reinterpret_cast<ze_device_handle_t>(device), base + memory.device.offset,
                      target);
}

void player::compare(const compiled_call& call, const memory_restore& memory) {
  const std::byte* found = locate(memory);
  if (found == nullptr) return;
  memory_tally* tally =
      memory.host == nullptr ? &journal_.tallies()[index_of(memory.device.slot)] : nullptr;
  std::vector<std::byte> copy;
  if (memory.is_copied) {
    copy.resize(memory.bytes);
    if (!read_through_driver(memory, copy)) {
      if (tally != nullptr) tally->unread_bytes.fetch_add(memory.bytes, std::memory_order_relaxed);
      return;
    }
    found = copy.data();
  }
  uint64_t compared = 0, differ = 0;
  std::optional<uint64_t> first;
  const auto compare_part = [&](uint64_t begin, uint64_t end) {
    if (begin >= end) return;
    compared += end - begin;
    if (std::memcmp(found + begin, memory.content + begin, end - begin) == 0) return;
    for (uint64_t i = begin; i < end; ++i) {
      if (found[i] == memory.content[i]) continue;
      if (!first) first = i;
      ++differ;
    }
  };
  uint64_t at = 0;
  for (const auto& time : memory.times) {
    compare_part(at, time.first);
    at = time.end();
  }
  compare_part(at, memory.bytes);

  auto& header = journal_.header();
  header.compared_bytes.fetch_add(compared, std::memory_order_relaxed);
  if (tally != nullptr) tally->compared_bytes.fetch_add(compared, std::memory_order_relaxed);
  if (!first) return;
  const uint32_t place = header.memory_differences.fetch_add(1, std::memory_order_relaxed);
  if (place >= journal_header::most_memory_differences) return;
  header.memory[place] = {call.number,
                          index_of(memory.device.slot),
                          memory.device.offset + *first,
                          differ,
                          static_cast<uint8_t>(memory.content[*first]),
                          static_cast<uint8_t>(found[*first])};
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
  for (const auto& patch : extras->opaque_outputs) {
    auto& handle = place_.handle(patch.handle);
    std::memcpy(handle.bytes.data(), patch.place, opaque_bytes);
    handle.owner = getpid();
  }
  // What the host found after a wait. Where the replay did not wait as long, it is not there yet.
  if (static_cast<uint32_t>(result) == call.result && call.returned) {
    for (const auto& memory : extras->memory_after) {
      patch_content(memory);
      if (options_.compare_memory && !memory.is_by_host) compare(call, memory);
      if (options_.restore_after_waits && !memory.is_copied) restore(memory);
    }
  }
  if (extras->fetched_place != nullptr && *extras->fetched_place != 0)
    if (const auto* function = api::builtin_model().find_function(extras->fetched_function))
      targets_[api::builtin_model().index_of(*function)] =
          reinterpret_cast<void*>(*extras->fetched_place);
}

void player::wait_until_due(const compiled_call& call) const {
  const uint64_t due =
      place_.start_ns().load(std::memory_order_relaxed) + (call.start_ns - program_.first_start_ns);
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

// Another process cannot start them when it is their turn.
void player::start_others(uint32_t first) {
  for (auto& each : threads_) each.started = true;
  for (uint32_t i = 0; i < threads_.size(); ++i)
    if (i != first) threads_[i].thread = std::thread([this, i] { run_thread(i); });
}

void player::start(uint32_t thread) {
  auto& who = threads_[thread];
  if (who.started) return;
  who.started = true;
  who.thread = std::thread([this, thread] { run_thread(thread); });
}

// Threads are started when it is their turn for the first time.
void player::pass_baton(uint32_t index) {
  const auto& turn = program_.turns[index];
  handed_over_.fetch_add(1, std::memory_order_release);
  if (turn.next_taker == meeting_place::nobody) return place_.pass_to_end();
  place_.pass_turn(turn.next_taker, turn.position + 1);
  const uint32_t thread = turn.next_taker - program_.first_taker;
  if (thread < threads_.size()) start(thread);
}

}  // namespace zevent::replay
