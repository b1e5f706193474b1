#include "model/symptom_search.hpp"

#include <algorithm>
#include <set>

#include "api/call_codec.hpp"
#include "api/print.hpp"
#include "api/result_code.hpp"
#include "model/argument_plan.hpp"
#include "model/call_time.hpp"
#include "model/process_calls.hpp"
#include "model/process_model.hpp"

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

  // For how long a wait may block by itself. Calls that are no waits have no limit.
  uint64_t time_limit_ns(const api::function& function, trace::call_arguments arguments) const {
    if (!waits(function)) return UINT64_MAX;
    const auto in = api::decode_inputs(model_, function, arguments.inputs);
    const value* timeout = in ? in->find("timeout") : nullptr;
    return timeout != nullptr ? number(timeout) : UINT64_MAX;
  }

  // A function of which some calls may not block.
  static bool concerns(const api::function& function) {
    return never_blocks(function) || waits(function) || submits(function);
  }

  bool may_block(const api::function& function, trace::call_arguments arguments) const {
    if (never_blocks(function)) return false;
    if (!waits(function) && !submits(function)) return true;
    const auto in = api::decode_inputs(model_, function, arguments.inputs);
    if (!in) return true;
    if (waits(function)) return in->find("timeout") == nullptr || number(in->find("timeout")) != 0;
    for (const std::string_view where : {"hCommandList", "hCommandListImmediate", "hCommandQueue"})
      if (synchronous_.contains(number(in->find(where)))) return true;
    return false;
  }

 private:
  static bool never_blocks(const api::function& function) {
    return has(function.name, "QueryStatus") || has(function.name, "HostSignal") ||
           has(function.name, "HostReset");
  }
  static bool waits(const api::function& function) { return has(function.name, "Synchronize"); }
  static bool submits(const api::function& function) {
    return has(function.name, "CommandListAppend") || has(function.name, "ExecuteCommandLists") ||
           has(function.name, "ImmediateAppend");
  }

  const api::model& model_;
  std::set<uint64_t> synchronous_;  // lists and queues
};

// Programs ask what a driver has, and may be told that it has it not.
bool is_expected(const api::function& function) {
  return has(function.name, "Get") || function.name.starts_with("zes");
}

// A process that was told to end while it was in a call for so long was stuck in it, even if that
// call may not block. (When a process was gone is known less exactly than when a call began.)
constexpr uint64_t stuck_ns = 1'000'000'000;

class search {
 public:
  search(const trace::trace_file& trace, uint32_t process, uint64_t threshold_ns,
         uint64_t last_call)
      : trace_(trace),
        process_(process),
        info_(trace.run().processes[process]),
        threshold_ns_(threshold_ns),
        last_call_(last_call),
        blocking_(trace.model()),
        plan_(trace.model()),
        usage_(trace),
        judge_(threshold_ns) {
    for (const auto& each : trace.model().functions)
      is_timed_.push_back(blocking_calls::concerns(each));
    trace::call_reader reader(trace_);
    while (const trace::call* call = reader.next())
      if (trace_.process_of(*call) == process_ && !call->injected())
        look_at(*call, reader.arguments());
    find_stall();
    if (!unreturned_ && info_.end.is_crash() && latest_ && latest_->number <= last_call_)
      crash_elsewhere_ = {
          crash{static_cast<int>(info_.end.status)}, latest_->number,
          fmt::format("the program was {} after call {} {}{}", to_text(info_.end), latest_->number,
                      latest_->function, info_.lost_calls == 0 ? ", in no call" : "")};
  }

  std::optional<found_symptom> worst() const {
    for (const auto* each : {&unreturned_, &error_})
      if (*each) return *each;
    return stall_;
  }

  const std::optional<found_symptom>& crash_elsewhere() const { return crash_elsewhere_; }

  // The crash or the hang that the process ended in.
  const std::optional<found_symptom>& end() const {
    return unreturned_ ? unreturned_ : crash_elsewhere_;
  }

 private:
  void look_at(const trace::call& call, trace::call_arguments arguments) {
    const auto& function = trace_.function(call);
    latest_ = {trace::number_of(call.number), function.name};
    if (latest_->number > last_call_) return;
    blocking_.look_at(call, function, arguments);
    if (!call.returned()) {
      note_unreturned(call, function, blocking_.may_block(function, arguments),
                      blocking_.time_limit_ns(function, arguments));
    } else if (call.failed()) {
      if (!error_ && !is_expected(function)) note_error(call, function);
    } else if (is_timed_[call.function]) {
      note_time(call, function, arguments);
    }
  }

  void note_unreturned(const trace::call& call, const api::function& function, bool may_block,
                       uint64_t limit_ns) {
    const auto& end = info_.end;
    if (end.is_orderly()) return;
    if (end.kind == trace::end_kind::by_signal) {
      if (end.is_crash()) return note_crash(call, function, may_block);
      const bool was_stuck = under_way_ns(call) >= stuck_ns;
      // A program that waits again and again for a short time is in one of these waits by chance.
      const bool is_in_time =
          end.at_ns && limit_ns < UINT64_MAX - stuck_ns && under_way_ns(call) < limit_ns + stuck_ns;
      if ((may_block || was_stuck) && !is_in_time) note_hang(call, function);
      return;
    }
    // A process that ended in an orderly way may have left a thread in a call.
    if (info_.state == trace::process_state::ended) return;
    if (may_block) return note_hang(call, function);
    note_crash(call, function, may_block);
  }

  // How long it had not returned when the process ended; 0 where that is not known.
  uint64_t under_way_ns(const trace::call& call) const {
    const auto ended_ns = info_.end.at_ns.value_or(0);
    return ended_ns - std::min(ended_ns, call.start_ns);
  }

  // Where several calls had not returned, the process crashed in one that does not wait rather than
  // in one that does.
  void note_crash(const trace::call& call, const api::function& function, bool may_block) {
    if (crash_is_certain_) return;
    crash_is_certain_ = !may_block;
    const uint64_t number = trace::number_of(call.number);
    if (info_.end.is_crash())
      unreturned_ = {crash{static_cast<int>(info_.end.status)}, number,
                     fmt::format("the program was {} in call {} {}{}", to_text(info_.end), number,
                                 function.name, may_block ? ", or elsewhere while it waited" : "")};
    else
      unreturned_ = {crash{}, number,
                     fmt::format("the program ended inside call {} {}", number, function.name)};
  }

  void note_hang(const trace::call& call, const api::function& function) {
    if (crash_is_certain_) return;
    const uint64_t number = trace::number_of(call.number);
    auto why = fmt::format("call {} {} did not return", number, function.name);
    if (under_way_ns(call) != 0)
      why += fmt::format("; {} later the program was {}", time_text(under_way_ns(call)),
                         to_text(info_.end));
    unreturned_ = {hang{}, number, std::move(why)};
  }

  void note_error(const trace::call& call, const api::function& function) {
    const uint64_t number = trace::number_of(call.number);
    const std::string name = api::print_result(trace_.model(), call.result);
    error_ = {call_with_result{{number, ""}, name}, number,
              fmt::format("call {} {} returned {}", number, function.name, name)};
  }

  // All calls count for what is usual; those that took long are judged at the end.
  void note_time(const trace::call& call, const api::function& function,
                 trace::call_arguments arguments) {
    const bool is_slow = call.duration_ns > threshold_ns_;
    if (is_slow && blocking_.may_block(function, arguments)) return;
    call_use use{call.function, 0, 0};
    if (is_append(plan_.function_of(call.function))) {
      view_.clear();
      plan_.read(call.function, arguments.inputs, arguments.outputs, view_);
      use.list = view_[argument::hCommandList];
      use.kernel = view_[argument::hKernel];
    }
    const auto* usage = is_slow ? usage_.find(call.number) : nullptr;
    const auto judged = judge_.add(use, explain_time(call.duration_ns, usage));
    if (is_slow) slow_.push_back({{trace::number_of(call.number), function.name}, judged});
  }

  // The longest of those that only the driver explains.
  void find_stall() {
    const slow_call_seen* longest = nullptr;
    for (const auto& each : slow_) {
      if (longest != nullptr &&
          each.judged.time.unexplained_ns() <= longest->judged.time.unexplained_ns())
        continue;
      if (judge_.judge(each.judged) == stall_verdict::stall) longest = &each;
    }
    if (longest == nullptr) return;
    const auto& [call, judged] = *longest;
    const auto explained = explanation_text(judged.time);
    auto why = fmt::format("call {} {} took {}", call.number, call.function,
                           time_text(judged.time.duration_ns));
    if (!explained.empty())
      why += fmt::format(", {} of it without an explanation ({})",
                         time_text(judged.time.unexplained_ns()), explained);
    stall_ = {slow_call{{call.number, ""}, threshold_ns_}, call.number,
              std::move(why) + " and may not block"};
  }

  struct named_call {
    uint64_t number;
    std::string_view function;
  };
  struct slow_call_seen {
    named_call call;
    stall_judge::candidate judged;
  };

  const trace::trace_file& trace_;
  uint32_t process_;
  const trace::process_info& info_;
  uint64_t threshold_ns_, last_call_;
  blocking_calls blocking_;
  argument_plan plan_;
  call_view view_;
  trace::call_usage_reader usage_;
  stall_judge judge_;
  std::vector<bool> is_timed_;  // by function: some of its calls may not block
  std::vector<slow_call_seen> slow_;
  std::optional<named_call> latest_;  // of the whole process
  std::optional<found_symptom> unreturned_, error_, crash_elsewhere_, stall_;
  bool crash_is_certain_ = false;  // it was in a call that does not wait
};

}  // namespace

symptom_kind kind_of(const symptom& which) {
  struct {
    symptom_kind operator()(const slow_call&) const { return symptom_kind::stall; }
    symptom_kind operator()(const call_with_result&) const { return symptom_kind::error; }
    symptom_kind operator()(const hang&) const { return symptom_kind::hang; }
    symptom_kind operator()(const crash&) const { return symptom_kind::crash; }
    symptom_kind operator()(const memory_differs&) const { return symptom_kind::wrong_memory; }
    symptom_kind operator()(const rule_finding&) const { return symptom_kind::broken_rule; }
    symptom_kind operator()(const exit_status&) const { return symptom_kind::other; }
    symptom_kind operator()(const no_symptom&) const { return symptom_kind::other; }
  } kinds;
  return std::visit(kinds, which);
}

result<std::optional<found_symptom>> find_symptom(const trace::trace_file& trace, uint32_t process,
                                                  uint64_t threshold_ns, uint64_t last_call) {
  if (process >= trace.run().processes.size()) return fail("there is no process {}", process);
  return search(trace, process, threshold_ns, last_call).worst();
}

namespace {

// Follows the commands of a process to the end of its calls.
class command_watch final : public listener {
 public:
  void begin(const call_view& call) { state_.begin(call); }
  void end(const call_view& call) { state_.end(call); }
  // Some command is not known to be complete.
  bool any_under_way() const {
    const auto& streams = state_.streams();
    return std::any_of(streams.begin(), streams.end(),
                       [](const auto& each) { return each->busy(); });
  }

 private:
  process_model state_{*this};
};

bool leaves_commands_under_way(const trace::trace_file& trace, uint32_t process) {
  command_watch watch;
  tell_calls_of(trace, process, watch);
  return watch.any_under_way();
}

crash_in_no_call explain(const found_symptom& crashed, const trace::trace_file& trace,
                         uint32_t process) {
  crash_in_no_call out{*std::get<crash>(crashed.what).signal, crashed.call, false, crashed.why};
  if (trace.run().processes[process].lost_calls != 0) {
    out.why +=
        "; calls are missing: it crashed in one of them, in its own code or in a thread of the "
        "driver";
  } else if (leaves_commands_under_way(trace, process)) {
    out.why +=
        "; commands may have been under way: it crashed in its own code or in a thread of the "
        "driver";
  } else {
    out.why += "; no command was under way: it crashed in its own code";
    out.is_programs_own = true;
  }
  return out;
}

}  // namespace

std::vector<crash_in_no_call> find_crashes_in_no_call(const trace::trace_file& trace,
                                                      std::span<const uint32_t> processes,
                                                      uint64_t last_call) {
  std::vector<crash_in_no_call> out;
  for (const uint32_t each : processes) {
    if (!trace.run().processes[each].end.is_crash()) continue;
    const search searched(trace, each, blocking_ns, last_call);
    if (const auto& found = searched.crash_elsewhere()) out.push_back(explain(*found, trace, each));
  }
  return out;
}

namespace {

std::string name_of(const trace::process_info& process) {
  const auto program = process.fact("executable");
  return program.empty() ? fmt::format("process {}", process.process_id)
                         : fmt::format("process {} ({})", process.process_id, program);
}

// Whether a process that ended in `found` shows the wanted crash or hang; nothing where it crashed
// by a signal that is not known.
std::optional<bool> is_shown_by(const symptom& found, const symptom& wanted) {
  if (found.index() != wanted.index()) return false;
  const auto* crashed = std::get_if<crash>(&found);
  const auto* named = std::get_if<crash>(&wanted);
  if (named == nullptr || !named->signal) return true;
  if (!crashed->signal) return std::nullopt;
  return *crashed->signal == *named->signal;
}

// Of each process: whether what it ended in is a hang or a crash, as the symptom is.
result<std::vector<found_symptom>> find_ends(const trace::trace_file& trace,
                                             const symptom& wanted) {
  std::vector<found_symptom> out;
  const trace::process_info* unknown = nullptr;
  for (uint32_t i = 0; i < trace.run().processes.size(); ++i) {
    const auto found = search(trace, i, blocking_ns, UINT64_MAX).end();
    if (!found) continue;
    const auto shown = is_shown_by(found->what, wanted);
    if (!shown) unknown = &trace.run().processes[i];
    if (shown.value_or(false)) out.push_back(*found);
  }
  if (out.empty() && unknown != nullptr)
    return fail("the recording does not tell by which signal {} was ended; 'crash' is any",
                name_of(*unknown));
  return out;
}

// Which processes ended with this status.
result<std::vector<found_symptom>> find_exits(const trace::trace_file& trace,
                                              const exit_status& wanted) {
  std::vector<found_symptom> out;
  const trace::process_info* unknown = nullptr;
  for (const auto& each : trace.run().processes) {
    if (each.end.kind == trace::end_kind::unknown) unknown = &each;
    if (each.end.kind == trace::end_kind::exited &&
        each.end.status == static_cast<uint32_t>(wanted.status))
      out.push_back({wanted, 0, fmt::format("{}: {}", name_of(each), to_text(each.end))});
  }
  if (out.empty() && unknown != nullptr)
    return fail("the recording does not tell how {} ended", name_of(*unknown));
  return out;
}

}  // namespace

result<std::vector<found_symptom>> find_shown(const trace::trace_file& trace,
                                              const symptom& wanted) {
  if (const auto* ended = std::get_if<exit_status>(&wanted)) return find_exits(trace, *ended);
  if (std::holds_alternative<memory_differs>(wanted))
    return fail("a recording does not tell whether '{}' is there: 'zevent replay' does",
                to_text(wanted));
  if (std::holds_alternative<rule_finding>(wanted))
    return fail("'{}' is for the checker to find", to_text(wanted));
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
