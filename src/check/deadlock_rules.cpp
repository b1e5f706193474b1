#include <level_zero/ze_api.h>

#include <algorithm>
#include <set>

#include "check/rule_sets.hpp"
#include "check/wait_chain.hpp"

namespace zevent::check {
namespace {

using enum argument;
using model::command_list;
using model::event;
using model::event_wait;
using model::stream;

// What was held up for good when the recording ended, and why.
class deadlock_rule_set final : public rule_set {
 public:
  using rule_set::rule_set;

  bool wants(function) const override { return true; }

  void begins(const call_view& call) override {
    if (!call.did_return)
      stuck_.push_back({call.number, call.which, argument_of(call), call[timeout]});
    if (call.which == function::zeEventHostSignal) see_late_signal(call);
    polls_ = call.did_return && call.result == ZE_RESULT_NOT_READY;
  }

  void finish() override {
    for (const auto& each : look_.state.streams()) {
      if (each->blocked()) explain_stream(*each);
    }
    for (const auto& each : stuck_) explain_call(each);
  }

 private:
  struct stuck_call {
    call_number call;
    function which;
    uint64_t handle;
    uint64_t timeout;
  };

  static uint64_t argument_of(const call_view& call) {
    using enum function;
    switch (call.which) {
      case zeEventHostSynchronize:
        return call[hEvent];
      case zeCommandQueueSynchronize:
        return call[hCommandQueue];
      case zeFenceHostSynchronize:
        return call[hFence];
      case zeDeviceSynchronize:
        return call[hDevice];
      default:
        return call[hCommandList];
    }
  }

  // A process that was killed while none of its calls was stuck may have had the signal before it,
  // and so may one that crashed while it waited for nothing.
  bool had_more_before_it() const {
    if (!look_.crashed) return look_.cut_off && stuck_.empty() && !polls_;
    return std::none_of(stuck_.begin(), stuck_.end(),
                        [](const stuck_call& each) { return waits(each.which); });
  }

  static bool waits(function which) {
    using enum function;
    return which == zeEventHostSynchronize || which == zeCommandQueueSynchronize ||
           which == zeFenceHostSynchronize || which == zeDeviceSynchronize ||
           which == zeCommandListHostSynchronize;
  }

  // EV-14: work that was submitted before the host signalled what it waits for.
  void see_late_signal(const call_view& call) {
    const event* which = look_.state.events.find_alive(call[hEvent]);
    if (which == nullptr || which->counter_based) return;
    for (const auto& held : which->parked) {
      if (!held->blocked()) continue;
      const run& front = *held->runs[held->started];
      finding* made = look_.add(ev(14), "late signal", severity::note);
      if (made == nullptr) return;
      made->message =
          fmt::format("{} was held up from #{} on until the host signalled {} here.",
                      look_.name(*held), number_of(front.submitted), look_.name(*which));
      made->calls = {{front.what->call, "waits for the event"}, {call.number, "signals it later"}};
    }
  }

  void explain_stream(const stream& held) {
    const run& front = *held.runs[held.started];
    const event_wait* wait = missing_wait(front);
    if (wait == nullptr || explained_.contains(&front)) return;
    wait_chain out = follow_waits(look_, *wait, &front);
    explained_.insert(out.held_up.begin(), out.held_up.end());
    if (out.rule == ev(13) && !out.held_up.contains(&front)) return;
    const bool may_come = out.rule == ev(12) && had_more_before_it();
    finding* made = look_.add_at(front.what->call, out.rule, "stream",
                                 may_come             ? std::optional(severity::note)
                                 : out.rule == ev(21) ? std::optional(severity::error)
                                                      : std::nullopt);
    if (made == nullptr) return;
    if (may_come)
      out.steps.push_back(fmt::format("The process {} before it could have done so.",
                                      look_.crashed ? "crashed" : "was killed"));
    const size_t behind = held.runs.size() - held.started - 1;
    made->message =
        fmt::format("#{} never starts{}.", number_of(front.what->call),
                    behind == 0 ? ""
                                : fmt::format(", and {} command{} behind it on {} neither", behind,
                                              behind == 1 ? "" : "s", look_.name(held)));
    made->steps = std::move(out.steps);
    made->calls = std::move(out.calls);
  }

  void explain_call(const stuck_call& call) {
    using enum function;
    switch (call.which) {
      case zeEventHostSynchronize:
        return explain_wait(call);
      case zeDeviceSynchronize:
        return explain_device(call);
      default:
        if (is_append(call.which)) explain_append(call);
        return;
    }
  }

  // EV-12 or EV-13: the host waits for an event.
  void explain_wait(const stuck_call& call) {
    event* which = look_.state.events.find_alive(call.handle);
    if (which == nullptr || which->foreign || call.timeout != UINT64_MAX) return;
    const event_wait wait{model::ref<event>(which), which->last_signal};
    if (which->counter_based) {
      const auto& last = which->last_signal;
      if (!last || (last->last_run != nullptr && last->last_run->started) ||
          (last->last_run == nullptr && last->executions > 0))
        return;
    } else if (which->signalled()) {
      return;
    }
    wait_chain out = follow_waits(look_, wait, nullptr);
    finding* made = look_.add_at(call.call, out.rule == ev(21) ? ev(12) : out.rule, "host");
    if (made == nullptr) return;
    made->message = fmt::format("The host waits for {} and never gets on.", look_.name(*which));
    made->steps = std::move(out.steps);
    made->calls = std::move(out.calls);
    made->calls.insert(made->calls.begin(), {call.call, "does not return"});
  }

  // EV-19.
  void explain_device(const stuck_call& call) {
    for (const auto& each : look_.state.streams()) {
      if (!each->blocked() || !look_.state.same_device(each->device, call.handle)) continue;
      const run& front = *each->runs[each->started];
      const event_wait* wait = missing_wait(front);
      if (wait == nullptr) continue;
      finding* made = look_.add_at(call.call, ev(19), "device");
      if (made == nullptr) return;
      wait_chain out = follow_waits(look_, *wait, &front);
      made->message = "The device never becomes idle.";
      made->steps = std::move(out.steps);
      made->calls = std::move(out.calls);
      made->calls.push_back({call.call, "does not return"});
      return;
    }
  }

  // EV-14: an append that blocks until the event it waits for is signalled.
  void explain_append(const stuck_call& call) {
    const command_list* list = look_.state.lists.find_alive(call.handle);
    if (list == nullptr || !list->own || !list->own->blocked()) return;
    const run& front = *list->own->runs[list->own->started];
    const event_wait* wait = missing_wait(front);
    if (wait == nullptr) return;
    finding* made = look_.add_at(call.call, ev(14), "append", severity::error);
    if (made == nullptr) return;
    wait_chain out = follow_waits(look_, *wait, &front);
    made->message = fmt::format(
        "The append to {}{} does not return before {} is signalled, and this thread can do nothing "
        "else meanwhile.",
        look_.name(*list), list->synchronous ? ", a synchronous list," : "",
        look_.name(*wait->which));
    made->steps = std::move(out.steps);
    made->calls = {{call.call, "does not return"}};
  }

  std::vector<stuck_call> stuck_;
  bool polls_ = false;  // the last call asked for something that was not ready
  std::set<const run*> explained_;
};

}  // namespace

std::unique_ptr<rule_set> deadlock_rules(inspection& of) {
  return std::make_unique<deadlock_rule_set>(of);
}

}  // namespace zevent::check
