#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "replay/address_book.hpp"
#include "replay/recorded_call.hpp"

namespace zevent::replay {

// What a call has to do with the state of an event or a fence.
struct state_use {
  static constexpr uint64_t none = UINT64_MAX, any = UINT64_MAX - 1;

  uint64_t learns = none;      // slot of what it was told to be signalled
  uint64_t takes_away = none;  // slot of what it resets or destroys
  uint64_t signals = none;     // slot of what it may bring about; of lists, any
};

// When a call was made, as far as the order of calls of several threads is concerned.
struct timed_call {
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;  // UINT64_MAX when it did not return
  uint32_t thread = 0;
  bool may_wait = false;
  state_use state;
};

// The order in which threads make their calls again. A call may begin when all that came before it
// have begun, and all that had returned before it began have returned. So a thread that waits for
// another one's call lets it go, and everybody else takes turns.
//
// A thread that was told that an event is signalled may have returned late: another one had reset
// the event by then. Now the reset waits for it, or it would never be told.
struct call_turns {
  // By call: the next one, of another thread, may begin while this one is under way.
  std::vector<bool> lets_next_go;
  // By call: those that let others go and have to have returned before it begins.
  std::map<uint32_t, std::vector<uint32_t>> waits_for;
};

// Calls in order of their start. With `free_threads` all that overlapped may overlap again,
// otherwise only those in which a thread may wait.
call_turns order_calls(std::span<const timed_call> calls, bool free_threads);

// A call in which a thread may have to wait for what another thread does: by what it is for, or
// because it took as long in the recording.
bool may_wait(const recorded_call& call);

timed_call timed(const recorded_call& call, const address_book& book);

}  // namespace zevent::replay
