#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "base/futex.hpp"
#include "replay/address_book.hpp"
#include "replay/arena.hpp"

namespace zevent::replay {

// What the threads of a replay share, be they of one process or of several: whose turn it is, and
// the IPC handles that were put out.
//
// Calls have positions in one order of all, and threads are turn takers with numbers of their own.
// They pass a baton: whoever makes the call at a position gives it to the thread of the next when
// the call has returned, or before it makes the call if that lets the next one go. Whoever has the
// baton may use what is guarded by it.
//
// It lies in memory that processes share once they have been forked.
class meeting_place {
 public:
  static constexpr uint32_t nobody = UINT32_MAX;

  // One more turn taker stands for the end of the replay.
  static result<meeting_place> make(uint32_t takers, uint32_t processes, uint32_t handles);

  void wait_for_turn(uint32_t taker, uint32_t position) const {
    wait_for(takers()[taker], takers()[taker].turn, position + 1);
  }
  void pass_turn(uint32_t taker, uint32_t position) const {
    tell(takers()[taker], takers()[taker].turn, position + 1);
  }
  void tell_completed(uint32_t taker, uint32_t position) const {
    tell(takers()[taker], takers()[taker].completed, position + 1);
  }
  void wait_for_completed(uint32_t taker, uint32_t position) const {
    wait_for(takers()[taker], takers()[taker].completed, position + 1);
  }
  void pass_to_end() const { pass_turn(end_, 0); }
  void wait_for_end() const { wait_for_turn(end_, 0); }

  // Returns when all processes have come to the gate. Each comes once.
  enum class gate : uint8_t { start, end };
  void meet(gate at) const;

  bool is_of_several() const { return processes_ > 1; }

  // Guarded by the baton.
  struct shared_handle_slot {
    opaque_handle bytes;
    int32_t owner;  // process that put it out; 0: none has yet
  };
  shared_handle_slot& handle(opaque_id id) const { return handles()[static_cast<uint32_t>(id)]; }

  // When the first call was made, on this replay's clock. Stored before the first turn is passed.
  std::atomic<uint64_t>& start_ns() const { return header().start_ns; }

 private:
  // On its own cache line, since others spin on it.
  struct alignas(64) turn_taker {
    std::atomic<uint32_t> turn;       // 1 + position of the call that may begin; a futex
    std::atomic<uint32_t> completed;  // 1 + position of the last call that returned; a futex
    std::atomic<uint32_t> sleepers;   // on either word
  };
  struct alignas(64) gates_and_time {
    turn_taker at[2];  // `turn` counts the processes that have come
    std::atomic<uint64_t> start_ns;
  };

  void wait_for(turn_taker& who, std::atomic<uint32_t>& word, uint32_t least) const;
  void tell(turn_taker& who, std::atomic<uint32_t>& word, uint32_t value) const;
  void wake(turn_taker& who, std::atomic<uint32_t>& word) const;
  gates_and_time& header() const { return *reinterpret_cast<gates_and_time*>(memory_.data()); }
  turn_taker* takers() const {
    return reinterpret_cast<turn_taker*>(memory_.data() + sizeof(gates_and_time));
  }
  shared_handle_slot* handles() const {
    return reinterpret_cast<shared_handle_slot*>(takers() + end_ + 1);
  }

  mapped_memory memory_;
  uint32_t end_ = 0;  // number of the taker that stands for the end
  uint32_t processes_ = 1;
  futex_scope scope_ = futex_scope::process;
};

}  // namespace zevent::replay
