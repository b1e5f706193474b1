#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "trace/call_usage.hpp"

// When the time of a call is the driver's. A call that was slow because its thread had no
// processor, because something was used for the first time, or once in a thousand calls, is no
// finding against the driver.
namespace zevent::model {

// The duration of a call and what of it is not the driver's.
struct call_time {
  uint64_t duration_ns = 0;
  bool has_note = false;         // else nothing is known but the duration
  uint64_t allowed_ns = 0;       // that the program asked the call to wait
  uint64_t no_processor_ns = 0;  // the thread was ready to run
  uint64_t behind_ns = 0;        // it slept while another thread of the process had no processor
  uint64_t faults_ns = 0;        // estimate: page faults, as many as `page_faults`
  uint32_t page_faults = 0;
  uint64_t processor_ns = 0;  // it ran, of what is left

  uint64_t explained_ns() const { return no_processor_ns + behind_ns + faults_ns; }
  // What is left for the driver to answer for.
  uint64_t unexplained_ns() const { return duration_ns - allowed_ns - explained_ns(); }
};

// `usage`: the note of the call; null where there is none. A wait may take `allowed_ns`.
//
// The thread was watched from a little before the call until after it. What may have been before
// the call counts as in it: in doubt the driver is right.
call_time explain_time(uint64_t duration_ns, const trace::call_usage* usage,
                       uint64_t allowed_ns = 0);

// "its thread waited 27.9 ms for a processor"; "" where nothing is explained.
std::string explanation_text(const call_time& time);

// Too much is left, and it is not a small rest of what is explained.
bool is_unexplained(const call_time& time, uint64_t threshold_ns);

enum class stall_verdict {
  quick,      // it took no longer than it may
  explained,  // by what its thread did
  unnoted,    // short, nothing is known of it, and other slow calls of the function are explained
  first_use,  // the first call of its kind, and later ones were quick
  rare,       // once in a thousand calls, and short
  stall,      // the driver's
};

// What tells calls apart of which the first one may take longer.
struct call_use {
  uint32_t function = 0;  // as the caller numbers functions, from 0
  uint64_t list = 0;      // of an append
  uint64_t kernel = 0;    // of a launch
  friend bool operator==(const call_use&, const call_use&) = default;
};

// Judges calls of one process that may not block, against all calls of the same function. First
// add() all of them, in order, then judge().
class stall_judge {
 public:
  explicit stall_judge(uint64_t threshold_ns) : threshold_ns_(threshold_ns) {}

  // A call that is to be judged: what judge() needs to know of it later.
  struct candidate {
    call_use use;
    call_time time;
    bool is_first = false;  // of its kind
  };
  candidate add(const call_use& use, const call_time& time);

  stall_verdict judge(const candidate& call) const;

 private:
  struct function_times {
    uint64_t calls = 0;
    uint64_t repeated = 0;       // calls that were not the first of their kind
    uint64_t slow_repeated = 0;  // of those, unexplained
    uint64_t explained = 0;      // slow calls with a note, and so is the next
    uint64_t unexplained = 0;
    // Calls by the bits of their unexplained nanoseconds: bucket i has those below 2^i.
    std::array<uint64_t, 65> by_bits{};
  };

  bool is_first_use(const candidate& call, const function_times& all) const;
  bool stands_out(const candidate& call, const function_times& all) const;

  struct use_hash {
    size_t operator()(const call_use& use) const;
  };

  uint64_t threshold_ns_;
  std::unordered_set<call_use, use_hash> appends_;  // that were made
  std::vector<function_times> functions_;           // by number
};

}  // namespace zevent::model
