#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/command.hpp"
#include "trace/trace_file.hpp"

// What a program leaves to the device: which of two commands that use the same memory comes first.
namespace zevent::model {

// "command_list_0": the name of an object that is alive now.
using object_name = std::function<std::string(object_kind, uint64_t handle)>;

// Why nothing orders the two, which are in conflict: the words of rule EV-25.
std::string why_unordered(const run& first, const run& second, const object_name& name);

// Two executions of commands that use the same memory, one of which writes, and nothing orders
// them; or a command that uses an event, and the host, which resets it.
struct open_pair {
  call_number first{}, second{};                      // the appends
  call_number first_submitted{}, second_submitted{};  // ... or the executions of their lists
  uint64_t first_stream = 0, second_stream = 0;       // handles of the queues or immediate lists
  bool first_is_on_queue = false, second_is_on_queue = false;
  uint64_t second_list = 0;  // handle of the list that the second was appended to
  bool in_one_list = false;  // both, and in one execution of it
  byte_range where;
  bool certain = true;  // false: a kernel has a pointer, and perhaps does not use it
  // The second is zeEventHostReset, by the host: the first waits for the event or signals it.
  bool is_reset = false;
  std::string reason;
  std::string first_does, second_does;  // "writes memory_0 from byte 0 to 4096"
};

// The host waited for an event that a command signals, and another command, which looks like a part
// of the same work, may still be running then. Nothing writes the same memory later on.
struct early_wait {
  call_number command{};
  byte_range written;
  call_number signals{};
  call_number waited{};
  std::string command_does;
  std::string event;
};

struct open_order {
  // In the order in which they were found, each pair of calls once.
  std::vector<open_pair> pairs;
  std::vector<early_wait> waits;  // by command, then by wait
  bool complete = true;           // false: there are more than were asked for
};

open_order find_open_order(const trace::trace_file& trace, uint32_t process, size_t most = 256);

}  // namespace zevent::model
