#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "trace/call.hpp"
#include "trace/chunk_file.hpp"

// What the threads of slow calls did meanwhile, as the kernel counts it. Only some calls have a
// note: those that took longer than 50 us, waits longer than 1 ms.
//
//   column                of every note, in order of the calls
//   call                  distance from the call of the one before it, the first from `first item`
//   before, after         ns for which the thread was watched before the call's start and after its
//                         end: the numbers that follow are of all the time
//   processor             ns that the thread ran
//   run delay             ns that it was ready to run and had no processor
//   minor, major faults
//   voluntary, involuntary switches
//   others before         ns for which the other threads were watched before the call's start
//   other run delay       ns, of that other thread of the process for which it was longest
//   other processor       ns that this thread ran
//   other threads         that were looked at
//   runnable tasks        of the machine; 0: not known
//   processors            that the thread may run on; 0: not known
//   flags                 of call_usage_flag
namespace zevent::trace {

enum call_usage_flag : uint8_t {
  usage_has_run_delay = 1,  // else the kernel does not tell it
  usage_has_others = 2,     // else the other threads were not looked at
};

struct call_usage {
  call_number call{};
  uint64_t before_ns = 0;
  uint64_t after_ns = 0;
  uint64_t processor_ns = 0;
  uint64_t run_delay_ns = 0;
  uint32_t minor_faults = 0;
  uint32_t major_faults = 0;
  uint32_t voluntary_switches = 0;
  uint32_t involuntary_switches = 0;
  uint64_t others_before_ns = 0;
  uint64_t other_run_delay_ns = 0;
  uint64_t other_processor_ns = 0;
  uint32_t other_threads = 0;
  uint32_t runnable_tasks = 0;
  uint32_t processors = 0;
  uint8_t flags = 0;

  bool has_run_delay() const { return (flags & usage_has_run_delay) != 0; }
  bool has_others() const { return (flags & usage_has_others) != 0; }

  friend bool operator==(const call_usage&, const call_usage&) = default;
};

// Notes come in order of their calls.
class call_usage_writer {
 public:
  result<void> add(const call_usage& note, chunk_writer& file);
  result<void> flush(chunk_writer& file);

 private:
  std::vector<call_usage> notes_;
};

// At most one of a call, in order; those of calls that the trace does not have are left out.
result<std::vector<call_usage>> read_call_usage(const chunk& source, const chunk_entry& entry,
                                                uint64_t calls);

class trace_file;

// Finds the note of a call. Quick for calls in order: it keeps the last chunk. A chunk that is
// damaged has no notes.
class call_usage_reader {
 public:
  explicit call_usage_reader(const trace_file& trace) : trace_(&trace) {}

  // Null where the call has none. Valid until the next call of find().
  const call_usage* find(call_number call);

 private:
  const trace_file* trace_;
  size_t chunk_ = SIZE_MAX;  // which is in notes_
  std::vector<call_usage> notes_;
  size_t next_ = 0;  // in notes_: where to look first
};

}  // namespace zevent::trace
