#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/timestamp_memory.hpp"
#include "replay/arena.hpp"
#include "replay/polls.hpp"
#include "replay/survey.hpp"
#include "trace/run_info.hpp"

// A trace made ready to be run: everything that can be known before the first call is made.
//
// For each call there is an image of its arguments: the slots that the function takes, and behind
// them the structs, arrays and chains, every field as it was recorded. What is only known while the
// replay runs is patched into the image just before the call:
//
//   recording              live values            image
//   event 0x7f3a…  ──►  slot 17: 0x5581…  ──►  hEvent
//   0x7f20…+0x40   ──►  slot 4:  0x7fe0…  ──►  srcptr = 0x7fe0… + 0x40
//
// and after the call, what it put out is taken from the image into the live values.
namespace zevent::replay {

// *place = value of the slot + offset
struct pointer_patch {
  uint64_t* place = nullptr;
  uint64_t offset = 0;
  slot_id slot{};
};

// value of the slot = *place
struct capture {
  const uint64_t* place = nullptr;
  slot_id slot{};
};

struct opaque_patch {
  std::byte* place = nullptr;
  opaque_id handle{};
  // The program had sent the handle's file descriptor along: its number here takes the place of
  // that in the process that put the handle out.
  bool with_descriptor = false;
};

// What memory held before the driver was entered, or after it had returned. Where the content had
// pointers into device memory, they are patched in the replay's copy of it first.
struct memory_restore {
  std::byte* host = nullptr;  // plain host memory; null: at slot + offset
  slot_place device;
  std::byte* content = nullptr;
  uint64_t bytes = 0;
  std::vector<pointer_patch> patches;
  bool at_least = false;  // a number of 8 bytes, which may be greater already
  // What only the device sees: it is compared and never restored, and read through the driver.
  bool is_copied = false;
  std::optional<memory_owner> owner;
  // No command can have written it: the host did, and there is nothing to compare.
  bool is_by_host = false;
  // Offsets of times of the device, which are others in every run: not compared.
  std::vector<model::byte_range> times;
};

// Memory that is looked at while the replay runs: a hash of every piece of it goes into the
// journal.
struct memory_look {
  static constexpr uint64_t piece_bytes = 256;

  std::byte* host = nullptr;  // plain host memory; null: at slot + offset
  slot_place device;
  uint64_t bytes = 0;
  uint64_t first_hash = 0;  // in the journal
  std::string name;         // "memory_3"
  // Offsets of what is not looked at: times of the device, which are others in every run.
  std::vector<model::byte_range> times;

  uint64_t pieces() const { return (bytes + piece_bytes - 1) / piece_bytes; }
};

// A call that was not recorded, to try out an order that the program does not ask for.
struct added_call {
  uint32_t function = 0;  // index into the built-in model
  slot_id object{};       // its first argument
};

// A call that has to have returned.
struct earlier_call {
  uint32_t taker = 0, position = 0;
};

// The place of a call in the order of all that take turns, and whose turn it is then; see
// meeting_place.hpp.
struct call_turn {
  uint32_t position = 0;
  uint32_t next_taker = 0;  // meeting_place::nobody: it is the last call
};

// What few calls have.
struct call_extras {
  std::vector<memory_restore> memory_before, memory_after;
  std::vector<opaque_patch> opaque_inputs, opaque_outputs;
  std::optional<slot_id> returned;      // the function's own value
  std::vector<earlier_call> waits_for;  // returned before this one began
  std::string fetched_function;         // the address that is put out is this function's
  const uint64_t* fetched_place = nullptr;
  std::vector<uint32_t> looks_before, looks_after;  // indices into program::looks
  std::vector<added_call> added;                    // made before it
};

// A call, or a loop of asks; see polls.hpp.
struct compiled_call {
  uint64_t number = 0;  // in the trace; of the first ask
  uint64_t* slots = nullptr;
  uint64_t start_ns = 0;     // since the first call of the run
  uint64_t duration_ns = 0;  // of the first ask
  uint64_t span_ns = 0;      // of all asks
  uint64_t asks = 1;         // recorded calls that it stands for
  uint32_t function = 0;     // index into the built-in model
  uint32_t thread = 0;       // index into program::threads
  uint32_t first_patch = 0, first_capture = 0;
  uint16_t patches = 0, captures = 0;
  uint32_t result = 0;        // of the last ask
  uint32_t first_answer = 0;  // result of the first ask
  uint32_t extras = 0;        // 1 + index into program::extras; 0: none
  bool returned = false;      // in the recording
  bool lets_next_go = false;  // the next call may begin while this one is under way
  bool until_done = false;    // it is repeated until the result is SUCCESS
};

struct replay_thread {
  std::string name;
  uint32_t trace_thread = 0;
  std::vector<uint32_t> calls;  // indices, ascending
};

struct program {
  std::vector<compiled_call> calls;  // in the order of their turns
  std::vector<pointer_patch> patches;
  std::vector<capture> captures;
  std::vector<call_extras> extras;
  std::vector<replay_thread> threads;
  std::vector<call_turn> turns;  // by call; empty where one thread makes all calls
  uint32_t first_taker = 0;      // number of the first thread; the others follow
  uint64_t first_start_ns = 0;   // of the first call of all
  call_selection selection;      // of which it has the calls
  trace::process_end end;        // how the recorded process ended
  bool keeps_results = false;    // what commands wrote was recorded (--memory=results)
  // Contents after waits that are not compared, as commands may have been writing there.
  uint64_t unfinished_results = 0;
  std::set<uint32_t> unfinished_slots;  // of which memory they are
  std::set<uint32_t> held_times;        // slots of memory with times that are not compared
  // Slots of allocations of the driver that commands may have written to.
  std::vector<uint32_t> written_memory;
  uint32_t slot_count = 0;
  uint32_t opaque_count = 0;
  std::vector<deviation> deviations;
  requirements needs;
  std::vector<std::string> slot_names;  // "event_3"
  std::vector<memory_look> looks;
  std::vector<uint32_t> looks_at_end;  // indices into looks
  uint64_t hashes = 0;                 // of all looks

  arena images;
  std::vector<mapped_memory> host_memory;  // one per host range
  mapped_memory scratch;                   // for large outputs that nobody reads

  const call_extras* extras_of(const compiled_call& call) const {
    return call.extras == 0 ? nullptr : &extras[call.extras - 1];
  }
  // Whether there is anything to compare memory with.
  bool has_results() const;
  // Indices into the built-in model's functions, ascending.
  std::vector<uint32_t> functions() const;
};

// What memory holds right after a call, and at the end: two looks, one after the other in
// program::looks. Asked for before all others.
struct memory_question {
  uint64_t after_call = 0;  // number
  uint64_t address = 0;     // of the recording, as are handles
  uint64_t bytes = 0;
};

// An order that the program did not ask for, to see what comes of it.
struct added_order {
  enum class kind : uint8_t {
    barrier_in_list,  // appended to the list
    wait_for_list,    // the host waits for the immediate list
    wait_for_queue,
  };
  kind how = kind::barrier_in_list;
  uint64_t before_call = 0;  // number
  uint64_t handle = 0;       // of the list or queue
};

struct compile_options {
  call_selection selection;
  poll_options polls;
  bool free_threads = false;    // calls that overlapped may overlap again
  bool look_at_memory = false;  // at all of it: before it is freed, or at the end
  std::vector<memory_question> questions;
  std::vector<model::timestamp_memory> times;  // not to be looked at
  std::vector<added_order> orders;
  progress_listener progress;  // of reading the trace
};

// Fails where the trace is damaged, or has functions that this build does not know.
result<program> compile(const trace::trace_file& trace, const compile_options& options);

// The programs of several processes, which take turns in the order of the trace. The selection's
// process counts for nothing.
result<std::vector<program>> compile_together(const trace::trace_file& trace,
                                              std::span<const uint32_t> processes,
                                              const compile_options& options);

}  // namespace zevent::replay
