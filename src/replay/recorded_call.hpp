#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "api/value.hpp"
#include "base/result.hpp"
#include "replay/inherited_calls.hpp"
#include "trace/lineage.hpp"
#include "trace/trace_file.hpp"

namespace zevent::replay {

// A call as it was recorded, and what memory was known to hold when it was made.
struct recorded_call {
  trace::call call;
  const api::function* function = nullptr;  // of the trace's model
  api::call_values inputs;
  api::call_values outputs;  // every parameter is absent where nothing came out
  std::vector<trace::memory_note> memory;
  // Made by the process that this one was forked off, before that. It counts as made by the first
  // thread of this one.
  bool is_inherited = false;

  uint64_t number() const { return trace::number_of(call.number); }
  // When memory was looked at.
  uint64_t time_of(const trace::memory_note& note) const;
};

// Whether memory was looked at when the call had returned.
bool is_after_call(const trace::memory_note& note);
// Whether a command may have written it, not the host.
bool may_be_devices(const trace::memory_note& note);
// Whether the host had no part in it: it was read through the driver.
bool is_copied(const trace::memory_note& note);

// Which calls of a trace are meant.
struct call_selection {
  uint32_t process = 0;        // index into the run's processes
  uint64_t last = UINT64_MAX;  // call number
  uint64_t skipped = 0;        // so many of the first calls are left out
};

// Reads the calls that a program itself made, decoded, in order of number. What a tool injected is
// left out, and so is a call that blocks and had not returned when the last one did: it waits for
// what comes later. Of a process that was forked off, the calls that made it what it was come
// first. A trace that has lost some of them is of no use from there on, and a failure.
class recorded_calls {
 public:
  recorded_calls(const trace::trace_file& trace, call_selection selection);

  // The next call; null at the end. It is valid until the next one is asked for.
  result<const recorded_call*> next();

  inheritance inherits() const { return inherits_; }

  // Numbers of the calls that were left out so far because they had not returned.
  const std::vector<uint64_t>& open_calls() const { return open_calls_; }

 private:
  bool is_inherited(const trace::call& call, uint32_t process) const;
  result<void> decode();
  result<void> find_memory();

  const trace::trace_file& trace_;
  call_selection selection_;
  inheritance inherits_;
  trace::lineage line_;
  uint32_t first_thread_;  // of the process
  trace::call_reader reader_;
  uint64_t end_ns_;  // when the last call returned, if others come after it
  std::vector<uint64_t> open_calls_;
  uint64_t expected_ = 0;  // number of the next call
  uint64_t skipped_ = 0;
  recorded_call current_;
  std::vector<trace::memory_note> notes_;  // of the calls up to notes_end_
  uint64_t notes_end_ = 0;
  size_t next_note_ = 0;
};

// Those that made calls by themselves, up to that one.
result<std::vector<uint32_t>> processes_with_calls(const trace::trace_file& trace,
                                                   uint64_t last = UINT64_MAX);

// The process whose calls are meant when the user does not say: the only one that made any. The
// failure lists them.
result<uint32_t> only_process(const trace::trace_file& trace);

}  // namespace zevent::replay
