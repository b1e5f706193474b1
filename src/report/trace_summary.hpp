#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/call_time.hpp"
#include "report/copy_statistics.hpp"
#include "report/device_statistics.hpp"
#include "report/latency_histogram.hpp"
#include "trace/call_filter.hpp"
#include "trace/trace_file.hpp"

namespace zevent::report {

struct function_summary {
  uint32_t function = 0;  // index into the trace's functions
  uint64_t calls = 0;
  uint64_t failed = 0;
  uint64_t unreturned = 0;
  latency_histogram durations;
};

struct thread_summary {
  uint32_t thread = 0;  // index into the trace's threads
  uint64_t calls = 0;
  uint64_t failed = 0;
  uint64_t in_calls_ns = 0;
};

struct event_summary {
  uint64_t created = 0;
  uint64_t most_alive = 0;  // at once
  uint64_t waits = 0;       // zeEventHostSynchronize that may block
  uint64_t blocked_ns = 0;  // in them
  uint64_t polls = 0;       // zeEventQueryStatus, and waits with timeout 0
  uint64_t polls_ready = 0;
};

// A call, and what of its time only the driver explains.
struct slow_call : trace::call {
  model::call_time time;
};

struct trace_summary {
  uint64_t calls = 0;
  uint64_t failed = 0;
  uint64_t unreturned = 0;
  uint64_t injected = 0;     // not in any other number
  uint64_t duration_ns = 0;  // from the start of the first call to the end of the last
  uint64_t waiting_ns = 0;   // in any function that waits on the host
  std::vector<function_summary> functions;  // by total time, longest first
  std::vector<slow_call> slowest;           // by unexplained time, longest first
  std::map<std::string, copy_count> copies;
  event_summary events;
  std::vector<thread_summary> threads;   // by index
  std::optional<device_summary> device;  // of a profile
  std::vector<trace::file_damage> damage;
};

struct summary_options {
  size_t slowest = 10;
  std::function<void(uint64_t, uint64_t)> progress;  // calls done and calls in all
};

// Of the calls that pass the filter. What is said of events' lives is of the whole trace.
trace_summary summarise(const trace::trace_file& trace, const trace::call_filter& filter,
                        const summary_options& options);

}  // namespace zevent::report
