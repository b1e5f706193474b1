#include "model/symptom_search.hpp"

#include <set>

#include "api/call_codec.hpp"
#include "api/print.hpp"
#include "api/result_code.hpp"

namespace zevent::model {
namespace {

using api::value;

bool has(std::string_view name, std::string_view part) {
  return name.find(part) != name.npos;
}

uint64_t number(const value* v) {
  return v != nullptr && v->form == api::value_form::scalar ? v->bits : 0;
}

// Reads calls and knows which of them may wait for the device.
class blocking_calls {
 public:
  explicit blocking_calls(const api::model& model) : model_(model) {}

  // To be told every call, in order.
  void look_at(const trace::call& call, const api::function& function,
               trace::call_arguments arguments) {
    const bool makes_list = function.name == "zeCommandListCreateImmediate";
    const bool makes_queue = function.name == "zeCommandQueueCreate";
    if (!makes_list && !makes_queue) return;
    const auto in = api::decode_inputs(model_, function, arguments.inputs);
    const auto out = api::decode_outputs(model_, function, arguments.outputs);
    if (!in || !out || call.failed()) return;
    const value* desc = in->find(makes_list ? "altdesc" : "desc");
    const value* made = out->find(makes_list ? "phCommandList" : "phCommandQueue");
    if (made == nullptr || made->items.empty()) return;
    const uint64_t handle = made->items.front().bits;
    constexpr uint64_t synchronous = 1;  // ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS
    if (desc != nullptr && number(desc->find("mode")) == synchronous) {
      synchronous_.insert(handle);
    } else {
      synchronous_.erase(handle);
    }
  }

  bool may_block(const api::function& function, trace::call_arguments arguments) const {
    const auto name = function.name;
    if (has(name, "QueryStatus") || has(name, "HostSignal") || has(name, "HostReset")) return false;
    const bool waits = has(name, "Synchronize");
    const bool submits = has(name, "CommandListAppend") || has(name, "ExecuteCommandLists") ||
                         has(name, "ImmediateAppend");
    if (!waits && !submits) return true;
    const auto in = api::decode_inputs(model_, function, arguments.inputs);
    if (!in) return true;
    if (waits) return in->find("timeout") == nullptr || number(in->find("timeout")) != 0;
    for (const std::string_view where : {"hCommandList", "hCommandListImmediate", "hCommandQueue"})
      if (synchronous_.contains(number(in->find(where)))) return true;
    return false;
  }

 private:
  const api::model& model_;
  std::set<uint64_t> synchronous_;  // lists and queues
};

// Programs ask what a driver has, and may be told that it has it not.
bool is_expected(const api::function& function) {
  return has(function.name, "Get") || function.name.starts_with("zes");
}

class search {
 public:
  search(const trace::trace_file& trace, uint32_t process, uint64_t threshold_ns,
         uint64_t last_call)
      : trace_(trace),
        process_(process),
        threshold_ns_(threshold_ns),
        last_call_(last_call),
        blocking_(trace.model()) {}

  std::optional<found_symptom> run() {
    trace::call_reader reader(trace_);
    while (const trace::call* call = reader.next())
      if (trace_.process_of(*call) == process_ && !call->injected() &&
          trace::number_of(call->number) <= last_call_)
        look_at(*call, reader.arguments());
    if (unreturned_) return unreturned_;
    if (error_) return error_;
    return slowest_;
  }

 private:
  void look_at(const trace::call& call, trace::call_arguments arguments) {
    const auto& function = trace_.function(call);
    blocking_.look_at(call, function, arguments);
    if (!call.returned()) {
      // A process that ended in an orderly way may have left a thread in a call.
      const bool ended = trace_.run().processes[process_].state == trace::process_state::ended;
      if (!ended) note_unreturned(call, function, blocking_.may_block(function, arguments));
    } else if (call.failed()) {
      if (!error_ && !is_expected(function)) note_error(call, function);
    } else if (call.duration_ns > threshold_ns_ && call.duration_ns > longest_ns_ &&
               !blocking_.may_block(function, arguments)) {
      note_slow(call, function);
    }
  }

  void note_unreturned(const trace::call& call, const api::function& function, bool may_block) {
    const uint64_t number = trace::number_of(call.number);
    const bool is_crash = unreturned_ && std::holds_alternative<crash>(unreturned_->what);
    if (is_crash) return;
    if (may_block) {
      unreturned_ = {hang{}, number,
                     fmt::format("call {} {} did not return", number, function.name)};
    } else {
      unreturned_ = {crash{}, number,
                     fmt::format("the program ended inside call {} {}", number, function.name)};
    }
  }

  void note_error(const trace::call& call, const api::function& function) {
    const uint64_t number = trace::number_of(call.number);
    const std::string name = api::print_result(trace_.model(), call.result);
    error_ = {call_with_result{{number, ""}, name}, number,
              fmt::format("call {} {} returned {}", number, function.name, name)};
  }

  void note_slow(const trace::call& call, const api::function& function) {
    const uint64_t number = trace::number_of(call.number);
    longest_ns_ = call.duration_ns;
    slowest_ = {slow_call{{std::nullopt, std::string(function.name)}, threshold_ns_}, number,
                fmt::format("call {} {} took {} and may not block", number, function.name,
                            time_text(call.duration_ns))};
  }

  const trace::trace_file& trace_;
  uint32_t process_;
  uint64_t threshold_ns_, last_call_;
  blocking_calls blocking_;
  std::optional<found_symptom> unreturned_, error_, slowest_;
  uint64_t longest_ns_ = 0;
};

}  // namespace

result<std::optional<found_symptom>> find_symptom(const trace::trace_file& trace, uint32_t process,
                                                  uint64_t threshold_ns, uint64_t last_call) {
  if (process >= trace.run().processes.size()) return fail("there is no process {}", process);
  return search(trace, process, threshold_ns, last_call).run();
}

namespace {

// Of each process: whether what it ended in is a hang or a crash, as the symptom is.
result<std::vector<found_symptom>> find_ends(const trace::trace_file& trace,
                                             const symptom& wanted) {
  std::vector<found_symptom> out;
  for (uint32_t process = 0; process < trace.run().processes.size(); ++process) {
    auto found = find_symptom(trace, process);
    if (!found) return tl::unexpected(found.error());
    if (*found && (*found)->what.index() == wanted.index()) out.push_back(std::move(**found));
  }
  return out;
}

}  // namespace

result<std::vector<found_symptom>> find_shown(const trace::trace_file& trace,
                                              const symptom& wanted) {
  if (std::holds_alternative<exit_status>(wanted)) return fail("{}", says_nothing_of_exits);
  if (std::holds_alternative<memory_differs>(wanted))
    return fail("a recording does not tell whether '{}' is there: 'zevent replay' does",
                to_text(wanted));
  if (const auto* ended = std::get_if<crash>(&wanted); ended != nullptr && ended->signal)
    return fail("a recording does not tell the signal of a crash; 'crash' is any");
  if (std::holds_alternative<hang>(wanted) || std::holds_alternative<crash>(wanted))
    return find_ends(trace, wanted);
  std::vector<found_symptom> out;
  trace::call_reader reader(trace);
  while (const auto* call = reader.next()) {
    if (call->injected()) continue;
    const uint64_t number = trace::number_of(call->number);
    const auto& function = trace.function(*call);
    const std::string result =
        call->returned() ? api::print_result(trace.model(), call->result) : std::string();
    if (!shows(wanted, {number, function.name, call->duration_ns, call->returned(), result}))
      continue;
    out.push_back({wanted, number,
                   fmt::format("call {} {} returned {} after {}", number, function.name, result,
                               time_text(call->duration_ns))});
  }
  return out;
}

}  // namespace zevent::model
