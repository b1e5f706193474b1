#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "replay/journal.hpp"
#include "replay/player.hpp"
#include "replay/program.hpp"

namespace zevent::replay {

struct run_options {
  std::string driver;  // a library
  play_options play;
  // A call that takes longer than this, and than twice its time in the recording, hangs.
  uint64_t timeout_ns = 60'000'000'000;
  std::vector<std::pair<std::string, std::string>> environment;  // set before the driver is loaded
};

enum class run_ending : uint8_t {
  finished,
  hung,             // a call did not return in time
  crashed,          // a signal ended it
  could_not_start,  // `message` says why
  stopped,          // another process of the replay had one of these ends
};

struct call_outcome {
  call_state state = call_state::not_made;
  uint32_t result = 0;        // of a call that returned
  uint32_t missing = 0;       // of one that was impossible: see journal_entry::detail
  uint64_t duration_ns = 0;   // of the first ask
  uint64_t asks = 1;          // how often a loop asked
  uint32_t first_answer = 0;  // as `result`, of the first ask
};

// How a replay went.
class run_outcome {
 public:
  run_ending ending = run_ending::finished;
  int signal = 0;
  std::string message;

  run_outcome(journal log, uint64_t first_ticks, double ns_per_tick)
      : journal_(std::move(log)), first_ticks_(first_ticks), scale_(ns_per_tick) {}
  call_outcome call(size_t index) const;
  size_t calls() const { return journal_.calls().size(); }
  // When a call that was made began, in ns since some moment before the replay.
  double start_ns(size_t index) const {
    return static_cast<double>(journal_.calls()[index].start_ticks - first_ticks_) * scale_;
  }
  const journal_header& header() const { return journal_.header(); }
  // Calls that were under way when the replay ended.
  std::vector<uint32_t> under_way() const;
  // Of what was seen of memory, by program::looks; 0: not looked at.
  std::span<const uint64_t> hashes() const { return journal_.hashes(); }
  uint64_t compared_bytes() const { return journal_.header().compared_bytes; }
  // Of an object's memory, by slot.
  uint64_t compared_bytes(uint32_t slot) const { return journal_.tallies()[slot].compared_bytes; }
  uint64_t unread_bytes(uint32_t slot) const { return journal_.tallies()[slot].unread_bytes; }
  uint64_t memory_differences() const { return journal_.header().memory_differences; }
  std::vector<memory_difference> memory() const;

 private:
  journal journal_;
  uint64_t first_ticks_;
  double scale_;  // ns a tick
};

// Runs the program in a process of its own, so that a driver that crashes or hangs is something to
// report. The caller must have no other threads.
result<run_outcome> run(const program& what, const run_options& options);

// The same for programs of several processes that were compiled together, with options for each
// (the first one's timeout counts). All live until the last call of all has returned; when one
// crashes or hangs, the others are stopped. `progress` is told how many calls have returned.
result<std::vector<run_outcome>> run_together(std::span<const program> programs,
                                              std::span<const run_options> options,
                                              const progress_listener& progress = {});

}  // namespace zevent::replay
