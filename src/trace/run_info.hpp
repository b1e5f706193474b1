#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace zevent::trace {

enum class process_state : uint8_t {
  ended = 1,    // in an orderly way; everything is in the trace
  cut_off = 2,  // it was killed, crashed, or was still running when the recording was read
  stopped = 3,  // the recorder gave up before the process ended
};

enum class end_kind : uint8_t {
  unknown = 0,
  exited = 1,     // by itself
  by_signal = 2,  // somebody's, or one that the process raised
  replaced = 3,   // it became another program (exec), which is another process here
};

// How a process ended, where that is known: a recorder dies with its process and cannot tell.
struct process_end {
  end_kind kind = end_kind::unknown;
  uint32_t status = 0;            // what it exited with, or the number of the signal
  std::optional<uint64_t> at_ns;  // since the first call of the run

  // Whether it failed by itself: a fault, an abort.
  bool is_crash() const;
  // Whether it was over, and nobody's doing but its own.
  bool is_orderly() const { return kind == end_kind::exited || kind == end_kind::replaced; }
  // Whether there is nothing to say of it: it is not known, or the process succeeded.
  bool is_uneventful() const {
    return kind == end_kind::unknown || (kind == end_kind::exited && status == 0);
  }
  friend bool operator==(const process_end&, const process_end&) = default;
};

// "ended by SIGSEGV", "exit status 3", "became another program"; empty where it is not known.
std::string to_text(const process_end& end);

// A function of the driver that the recorder does not know: it was handed to the program, and its
// calls are counted and not recorded.
struct passed_through {
  std::string name;  // or "slot 12 of ze_event_dditable_t"
  uint64_t calls = 0;
};

// Where a process comes from that was forked off a recorded one and did not become another program:
// what that one had made of Level Zero was there from the beginning.
struct process_fork {
  uint32_t parent = 0;  // index into run_info::processes
  uint64_t at_ns = 0;   // since the first call of the run
  friend bool operator==(const process_fork&, const process_fork&) = default;
};

struct process_info {
  uint32_t process_id = 0;  // the kernel's, as is the next
  uint32_t parent_process_id = 0;
  std::string host;
  process_state state = process_state::cut_off;
  std::string stop_reason;   // where it was stopped
  uint64_t lost_calls = 0;   // made by the process and not in the trace
  uint32_t memory_mode = 0;  // 0 off, 1 copies, 2 full, 3 results: whose contents were recorded
  // Names and values; lists are separated by null bytes. The names are in
  // api/recording_format.hpp.
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<std::pair<std::string, uint64_t>> counters;
  process_end end;
  std::optional<process_fork> fork;

  // Those that the program asked for, in the order in which it did.
  std::vector<passed_through> functions_passed_through() const;

  // The value of a fact; empty when it is not known.
  std::string fact(std::string_view name) const;
};

struct thread_info {
  uint32_t process = 0;    // index into run_info::processes
  uint32_t thread_id = 0;  // the kernel's
  std::string name;
};

// What is known of a run besides its calls. Processes are in the order of their start, threads in
// the order of their first calls.
struct run_info {
  uint64_t start_realtime_ns = 0;  // time of day of the first call, since 1970
  std::vector<process_info> processes;
  std::vector<thread_info> threads;
};

// Fields are numbered and have a length, so that older readers step over newer ones:
//   field := number varint, bytes varint, that many bytes
// A number is a varint, a text its bytes; processes, threads, facts and counters are themselves
// lists of fields.
std::vector<std::byte> encode_run_info(const run_info& run);
result<run_info> decode_run_info(std::span<const std::byte> bytes);

}  // namespace zevent::trace
