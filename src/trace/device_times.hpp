#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "trace/call.hpp"
#include "trace/chunk_file.hpp"

// When the device executed the commands of a profiled run.
//
//   column      of every execution, in order of the call that appended the command
//   call        distance from the call of the one before it, the first from `first item`
//   execution   the call that gave the command to the device, less the call
//   start       ns since the first call of the run
//   duration    ns
//   device      number of the device in its process, from 0
//   flags       of device_time_flag
namespace zevent::trace {

enum device_time_flag : uint8_t {
  // The device says that the command ran before it was given to the device, or after the host had
  // seen that it was over: its timestamps mean nothing.
  time_is_impossible = 1,
};

struct device_time {
  call_number call{};       // that appended the command
  call_number execution{};  // that gave it to the device: the same for an immediate list
  uint64_t start_ns = 0;    // since the first call of the run
  uint64_t duration_ns = 0;
  uint32_t device = 0;
  uint8_t flags = 0;

  bool is_impossible() const { return (flags & time_is_impossible) != 0; }
  uint64_t end_ns() const { return start_ns + duration_ns; }
};

// In order of call and execution.
result<void> write_device_times(std::vector<device_time> times, chunk_writer& file);

// Of a trace with so many calls; those of other calls are left out.
result<std::vector<device_time>> read_device_times(const chunk& source, const chunk_entry& entry,
                                                   uint64_t calls);

}  // namespace zevent::trace
