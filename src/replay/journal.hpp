#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "replay/arena.hpp"

namespace zevent::replay {

enum class call_state : uint32_t {
  not_made,
  under_way,
  returned,
  impossible,  // it takes an object that the replay does not have (`detail` is the slot), or
               // the driver does not have the function (no_function)
};

// Written by the thread that makes the call, read by another process at any time.
struct journal_entry {
  static constexpr uint32_t no_function = UINT32_MAX;

  // Stored last (release), so that what it promises is there.
  std::atomic<call_state> state;
  uint32_t detail;  // result of a call that returned; 0 for functions that return something else
  uint64_t start_ticks;
  uint64_t duration_ticks;  // of the first ask where it is a loop of them
  // Of the last ask that returned so far; relaxed: whoever watches looks at it now and then.
  std::atomic<uint64_t> asks;
  uint32_t first_answer;
};

struct memory_difference {
  uint64_t call;
  uint32_t slot;
  uint64_t offset;             // of the first byte that differs, in the allocation
  uint64_t bytes;              // how many differ, of those that were recorded
  uint8_t recorded, replayed;  // the first of them
};

// What was compared of an object's memory; relaxed: read at the end only.
struct memory_tally {
  std::atomic<uint64_t> compared_bytes;
  std::atomic<uint64_t> unread_bytes;  // the driver did not let them be read
};

enum class run_phase : uint32_t { starting, running, finished, failed };

struct journal_header {
  static constexpr uint32_t most_memory_differences = 1024;

  std::atomic<run_phase> phase;
  char message[1024];                        // where the phase is failed
  std::atomic<uint64_t> compared_bytes;      // of memory; relaxed: read at the end only
  std::atomic<uint32_t> memory_differences;  // may be more than are listed
  memory_difference memory[most_memory_differences];
};

// What a replay has done so far, in memory that it shares with whoever watches it.
class journal {
 public:
  static result<journal> make(uint64_t calls, uint64_t hashes = 0, uint64_t slots = 0);

  journal_header& header() const { return *reinterpret_cast<journal_header*>(memory_.data()); }
  std::span<journal_entry> calls() const {
    return {reinterpret_cast<journal_entry*>(memory_.data() + sizeof(journal_header)), calls_};
  }
  // Of what was seen of memory; 0: not looked at.
  std::span<uint64_t> hashes() const {
    return {reinterpret_cast<uint64_t*>(calls().data() + calls_), hashes_};
  }
  // By slot.
  std::span<memory_tally> tallies() const {
    return {reinterpret_cast<memory_tally*>(hashes().data() + hashes_), slots_};
  }
  // So that no call has to wait for the kernel to give the journal its pages.
  void populate() const { memory_.populate(); }

 private:
  mapped_memory memory_;
  uint64_t calls_ = 0, hashes_ = 0, slots_ = 0;
};

}  // namespace zevent::replay
