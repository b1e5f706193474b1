#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay/supervisor.hpp"

namespace zevent::replay {

struct difference {
  uint32_t index = 0;  // of the call in the program
  call_outcome replayed;
  bool hangs = false;            // it did not return in time
  bool is_first_answer = false;  // to the first ask of several
};

// The recording and its replay, call by call.
struct comparison {
  // First come first.
  std::vector<difference> results;
  // Queries and waits with a time limit that found the device earlier or later when they were first
  // asked: SUCCESS on one side, NOT_READY on the other.
  std::vector<difference> polls;
  // How often was asked, by polls that were asked more or less often than recorded.
  uint64_t asks_recorded = 0, asks_replayed = 0;
  // Calls that the replay did not get to.
  uint64_t not_made = 0;
  uint64_t equal = 0;

  bool same() const { return results.empty() && not_made == 0; }
};

comparison compare(const program& what, const run_outcome& outcome);

// Of a call that did not return in the recording: "the program was ended by SIGSEGV before it
// returned"; "it did not return" where it did not crash, or that is not known.
std::string how_it_ended(const program& what);

// "call 12 zeEventCreate: SUCCESS in the recording, ERROR_OUT_OF_HOST_MEMORY now"
std::string describe(const program& what, const difference& each);

// "zeEventCreate"
std::string_view function_name(const compiled_call& call);

}  // namespace zevent::replay
