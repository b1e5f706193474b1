#pragma once

#include <cstdint>

#include "model/call_sequence.hpp"
#include "model/trace_calls.hpp"
#include "trace/lineage.hpp"
#include "trace/trace_file.hpp"

namespace zevent::model {

// Tells the sink the beginnings and ends of all calls of one process, in the order of time. What
// was called before it was forked off another process belongs to it.
template <typename Sink>  // begin(const call_view&), end(const call_view&)
void tell_calls_of(const trace::trace_file& trace, uint32_t process, Sink& sink) {
  call_sequence<Sink> sequence(sink);
  const trace::lineage line(trace.run(), process);
  trace_calls calls(trace);
  while (const auto* call = calls.next())
    if (line.includes(call->process, call->end_ns)) sequence.add(*call, calls.next_start_ns());
  sequence.finish();
}

}  // namespace zevent::model
