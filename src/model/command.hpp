#pragma once

#include <deque>
#include <string>
#include <vector>

#include "model/byte_region.hpp"
#include "model/clock.hpp"
#include "model/objects.hpp"
#include "model/recycled.hpp"

// Commands as they were appended, each of their executions, and the streams these run on.
namespace zevent::model {

struct memory_access {
  byte_region region;
  bool writes = false;
  bool certain = true;  // false: a kernel got a pointer; it may touch from there to the end
};

struct event_wait {
  ref<event> which;
  // Counter-based: the append that it stood for when the wait was appended; null when there was
  // none, and so nothing to wait for.
  ref<command> bound;
};

struct command : counted, recycled<command> {
  call_number call = no_call;
  function which = function::other;
  ref<command_list> list;
  ref<event> signal;
  ref<event> reset;
  std::vector<event_wait> waits;
  std::vector<ref<event>> timestamps_of;  // AppendQueryKernelTimestamps
  std::vector<memory_access> accesses;
  std::vector<ref<kernel>> kernels;
  std::vector<ref<image>> images;
  bool in_order = false;
  bool relaxed = false;
  bool opaque = false;   // waits for something outside the recording
  bool emptied = false;  // a mutable command: its wait events were taken away

  uint32_t executions = 0;
  run* last_run = nullptr;          // null: never, or so long ago that it is complete
  std::vector<ref<stream>> parked;  // that wait for its first execution

  bool is_barrier() const {
    return which == function::zeCommandListAppendBarrier ||
           which == function::zeCommandListAppendMemoryRangesBarrier;
  }
};

// "launch add", "copy 4096 bytes", "barrier".
std::string describe(const command& which);

// One execution of a command.
struct run : counted, recycled<run> {
  ref<command> what;
  ref<stream> where;
  position at = 0;      // on the stream
  ref<timeline> chain;  // null: nothing can wait for this run alone
  position chain_at = 0;
  clock_ref before;                 // what is complete when it starts
  call_number submitted = no_call;  // the append, or the execution of its list
  uint32_t execution = 0;           // of its list, from 1
  std::vector<ref<run>> bound;      // by wait: the run that a counter-based event stands for
  ref<timeline> next_chain;         // the chain it will be put on when it starts; null: any
  bool started = false;             // all it waits for will come, and so will its own end
  bool done = false;                // the host knows of its end by itself

  ~run() {
    if (what && what->last_run == this) what->last_run = nullptr;
  }
};

// `a` is complete before `b` starts, whatever the device does.
bool ordered(const run& a, const run& b);
// ... and `b` sees what `a` has written.
bool visible(const run& a, const run& b);
// What is complete once `r` is.
clock_ref completion(const run& r);

// Commands that a device starts one after the other: those of a queue, or of an immediate list.
struct stream : counted {
  ref<timeline> line;
  ref<timeline> chain;  // of an in-order immediate list
  ref<timeline> acts;   // the chain of what is only about events, in lists that are not in-order
  bool is_queue = false;
  uint64_t handle = 0;  // of the queue or the list
  uint64_t device = 0;
  ref<context> owner;

  // What everything that starts from now on comes after.
  clock_ref floor;
  // Not known to be complete, oldest first; the first `started` of them have started.
  std::deque<ref<run>> runs;
  size_t started = 0;
  // The last barrier with wait events, which waits for nothing else.
  ref<run> last_partial_barrier;
  // The end of the chain of the last barrier or wait, which what comes next may carry on.
  ref<timeline> tail;
  position tail_at = 0;

  bool blocked() const { return started < runs.size(); }
  // Not complete as far as the host knows.
  bool busy() const;
};

// The host has seen that it is complete.
inline bool complete(const run& r) {
  return r.done || r.where->line->known >= r.at || (r.chain && r.chain->known >= r.chain_at);
}

}  // namespace zevent::model
