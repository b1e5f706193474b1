#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>

#include "events/event_source.hpp"
#include "zevent/event_owner.hpp"

namespace zevent {

// Events that are handed out, given back and handed out again. Free ones form a stack that is
// linked through their slots: taking and giving are one compare-and-swap each. Only making a new
// event takes a lock.
//
// Slots live in blocks that double in size and never move, so that a slot's number finds it:
//   block 0: slots 0 to 31   block 1: 32 to 95   block 2: 96 to 223   ...
class event_store {
 public:
  // `reset` says whether an event must be reset before it can be used again.
  event_store(std::unique_ptr<event_source> source, bool reset);
  ~event_store();
  event_store(const event_store&) = delete;
  event_store& operator=(const event_store&) = delete;

  // A free event or a new one; it holds `self`, this very store. Throws zevent::error.
  static borrowed_event acquire(const std::shared_ptr<event_store>& self);

  // The event is reset and free again. Where the driver leaves it signalled (a regular event that
  // an in-order immediate list signalled, on some of Intel's drivers), a new event takes its place.
  // One for which there is none is not handed out any more.
  void give_back(uint32_t slot) noexcept;

  uint32_t capacity() const noexcept { return created_.load(std::memory_order_relaxed); }

 private:
  struct slot {
    ze_event_handle_t event = nullptr;  // written before the slot's number is known to anyone
    // The next free slot, counted from 1; 0 at the end. Atomic because a thread that loses the race
    // for this slot may still read it; the head's tag makes such a stale value harmless.
    std::atomic<uint32_t> next{0};
  };

  static constexpr uint32_t first_block_slots = 32;
  static constexpr uint32_t block_count = 26;

  struct place {
    uint32_t block;
    uint32_t block_slots;  // how many slots the block has
    uint32_t offset;       // within the block
  };

  static place place_of(uint32_t index) noexcept;
  slot& slot_at(uint32_t index) const noexcept;
  uint32_t take_free() noexcept;  // the slot's number, counted from 1; 0 when there is none
  uint32_t create();
  bool is_reset(slot& given) const noexcept;
  bool replace(uint32_t index, slot& given) noexcept;

  std::unique_ptr<event_source> source_;  // guarded by growth_
  const bool reset_;
  std::mutex growth_;  // making events: source_, and the writes to blocks_ and created_

  // Written once each, before any slot of the block is handed out. Whoever knows a slot's number
  // got it from free_ (acquire) or made the slot: relaxed reads see the pointer.
  std::array<std::atomic<slot*>, block_count> blocks_{};
  std::atomic<uint32_t> created_{0};  // a statistic for others: relaxed

  // Low half: the first free slot, counted from 1. High half: a tag that changes with every take,
  // so that a slot which was taken and came back is not mistaken for one that never left. Release
  // on giving and acquire on taking order the reset before the next use.
  std::atomic<uint64_t> free_{0};
};

}  // namespace zevent
