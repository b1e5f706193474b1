#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "replay/address_book.hpp"
#include "trace/trace_file.hpp"

namespace zevent::replay {

// An IPC handle that one process of a recording put out and another one opened.
struct shared_handle {
  uint64_t put_out_by = 0;  // call number
  uint32_t owner = 0;       // process
  uint64_t opened_by = 0;
  uint32_t opener = 0;
};

// In the order of the calls that opened them.
result<std::vector<shared_handle>> find_shared_handles(const trace::trace_file& trace);

// The handles that calls of these processes put out, each once, in order.
result<std::vector<opaque_handle>> find_put_out_handles(const trace::trace_file& trace,
                                                        std::span<const uint32_t> processes);

// Those processes that share handles with this one, directly or through others, and itself.
std::vector<uint32_t> sharing_processes(const std::vector<shared_handle>& handles,
                                        uint32_t process);

// "process 1 (/usr/bin/app, pid 4711)"
std::string describe_process(const trace::trace_file& trace, uint32_t process);

// Why a call uses an object that no call of its process made: "which no recorded call made", or
// which process had made it before this one was forked off.
std::string describe_maker(const trace::object_table& objects, uint16_t handle_class,
                           uint64_t value);

// What that means for a replay of the process alone, a line each.
struct sharing {
  std::vector<std::string> hindrances;  // calls that cannot succeed, and how to go on
  std::vector<std::string> notes;       // what is left out and may be missed
};
sharing describe_sharing(const trace::trace_file& trace, uint32_t process,
                         const std::vector<shared_handle>& handles, uint64_t last_call);

}  // namespace zevent::replay
