#include "replay/journal.hpp"

namespace zevent::replay {

// Zeros are what an empty journal holds.
static_assert(static_cast<uint32_t>(call_state::not_made) == 0 &&
              static_cast<uint32_t>(run_phase::starting) == 0);
static_assert(std::atomic<call_state>::is_always_lock_free &&
              std::atomic<run_phase>::is_always_lock_free);
static_assert(sizeof(journal_header) % alignof(journal_entry) == 0);

result<journal> journal::make(uint64_t calls, uint64_t hashes, uint64_t slots) {
  auto memory = mapped_memory::make(sizeof(journal_header) + calls * sizeof(journal_entry) +
                                        hashes * sizeof(uint64_t) + slots * sizeof(memory_tally),
                                    /*shared=*/true);
  if (!memory) return tl::unexpected(memory.error());
  journal out;
  out.memory_ = std::move(*memory);
  out.calls_ = calls;
  out.hashes_ = hashes;
  out.slots_ = slots;
  return out;
}

}  // namespace zevent::replay
