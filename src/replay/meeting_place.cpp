#include "replay/meeting_place.hpp"

#include "base/pause_processor.hpp"

namespace zevent::replay {
namespace {

constexpr int spins_before_sleep = 200;

}  // namespace

result<meeting_place> meeting_place::make(uint32_t takers, uint32_t processes, uint32_t handles) {
  meeting_place out;
  auto memory =
      mapped_memory::make(sizeof(gates_and_time) + (uint64_t{takers} + 1) * sizeof(turn_taker) +
                              uint64_t{handles} * sizeof(shared_handle_slot),
                          /*shared=*/true);
  if (!memory) return tl::unexpected(memory.error());
  out.memory_ = std::move(*memory);
  out.end_ = takers;
  out.processes_ = processes;
  out.scope_ = processes > 1 ? futex_scope::shared : futex_scope::process;
  return out;
}

void meeting_place::meet(gate at) const {
  if (processes_ == 1) return;
  auto& place = header().at[static_cast<uint8_t>(at)];
  place.turn.fetch_add(1, std::memory_order_seq_cst);
  wake(place, place.turn);
  wait_for(place, place.turn, processes_);
}

// The sleeper announces itself before it looks at the word again, and whoever changes the word
// looks for sleepers afterwards: with both in one total order (seq_cst), one of the two sees the
// other.
void meeting_place::wait_for(turn_taker& who, std::atomic<uint32_t>& word, uint32_t least) const {
  for (int i = 0; i < spins_before_sleep; ++i) {
    if (word.load(std::memory_order_acquire) >= least) return;
    pause_processor();
  }
  who.sleepers.fetch_add(1, std::memory_order_seq_cst);
  for (uint32_t seen = word.load(std::memory_order_seq_cst); seen < least;
       seen = word.load(std::memory_order_seq_cst))
    futex_wait(word, seen, scope_);
  who.sleepers.fetch_sub(1, std::memory_order_relaxed);
}

void meeting_place::tell(turn_taker& who, std::atomic<uint32_t>& word, uint32_t value) const {
  word.store(value, std::memory_order_seq_cst);
  wake(who, word);
}

void meeting_place::wake(turn_taker& who, std::atomic<uint32_t>& word) const {
  if (who.sleepers.load(std::memory_order_seq_cst) != 0) futex_wake(word, scope_);
}

}  // namespace zevent::replay
