#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/argument_plan.hpp"
#include "model/call_view.hpp"
#include "trace/object_table.hpp"
#include "trace/trace_file.hpp"

// Who waits for whom, as the program asked for it: for each append, which appends signal the events
// that it waits for. This is about calls, not about executions; process_model.hpp knows those.
namespace zevent::model {

// One thing that a call waits for.
struct awaited {
  enum class reason : uint8_t {
    signal,        // that call appended a command that signals the event
    host_signal,   // that call signalled it from the host
    later_signal,  // as `signal`, but only appended later
    nothing,       // no call of the recording signals it
    in_order,      // the command before it in an in-order list
  };
  reason why = reason::nothing;
  trace::call_number call{};              // unless nothing
  std::optional<trace::object_id> event;  // unless in_order
};

class append_waits {
 public:
  // Reads all calls of the trace. `progress` is told calls done and calls in all.
  explicit append_waits(const trace::trace_file& trace,
                        const std::function<void(uint64_t, uint64_t)>& progress = {});

  // What an append waits for, or who signals the event that a call asks for or waits on. Empty for
  // every other call.
  std::vector<awaited> of(trace::call_number call) const;

  // "launch add", "copy 4096 bytes", "barrier": the command that a call appended; empty when it
  // appended none.
  std::string command_name(trace::call_number call) const;

 private:
  enum class act : uint8_t { signal, host_signal, reset };
  struct event_act {
    trace::call_number call{};
    act what{};
  };
  struct event_story {
    bool counter_based = false;
    std::vector<event_act> acts;  // in order of call
  };
  struct noted_append {
    std::string command;
    std::vector<trace::object_id> waits;
    std::optional<trace::call_number> previous;  // in an in-order list
  };
  struct list_state {
    bool in_order = false;
    std::optional<trace::call_number> last_append;
  };

  class reader;

  awaited resolve(trace::object_id event, trace::call_number waiter) const;

  std::unordered_map<uint64_t, noted_append> appends_;  // by number
  // Host calls that ask for an event, of which there may be millions: number and event, in order.
  std::vector<std::pair<uint64_t, trace::object_id>> questions_;
  std::unordered_map<uint32_t, event_story> events_;   // by object
  std::unordered_map<uint32_t, std::string> kernels_;  // by object
};

}  // namespace zevent::model
