#include <level_zero/ze_api.h>

#include <algorithm>

#include "check/rule_sets.hpp"

namespace zevent::check {
namespace {

using enum argument;
using model::command;
using model::command_list;
using model::complete;
using model::event;
using model::event_role;
using model::no_call;
using model::ordered;

const char* verb(event_role role) {
  return role == event_role::signals  ? "signals"
         : role == event_role::resets ? "resets"
                                      : "waits for";
}

class event_rule_set final : public rule_set {
 public:
  using rule_set::rule_set;

  bool wants(function which) const override {
    using enum function;
    switch (which) {
      case zeEventHostSynchronize:
      case zeEventQueryStatus:
      case zeEventHostReset:
      case zeEventHostSignal:
        return true;
      default:
        return is_append(which);
    }
  }

  bool wants_end(function which) const override {
    return which == function::zeEventHostSynchronize || which == function::zeEventQueryStatus;
  }

  void begins(const call_view& call) override {
    if (is_append(call.which)) return append(call);
    const event* which = look_.state.events.find_alive(call[hEvent]);
    if (which == nullptr) return;
    using enum function;
    switch (call.which) {
      case zeEventHostSynchronize:
      case zeEventQueryStatus:
        return see_visibility(*which);
      case zeEventHostReset:
        return see_host_reset(*which);
      default:
        return;
    }
  }

  void ends(const call_view& call) override {
    const event* which = look_.state.events.find_alive(call[hEvent]);
    if (which == nullptr) return;
    if (call.succeeded() && !which->counter_based) see_stale_signal(*which);
  }

  void starting(const run& about_to) override {
    const command& what = *about_to.what;
    if (what.reset) see_reset_races(*what.reset, about_to, event_role::resets);
    if (what.signal) see_reset_races(*what.signal, about_to, event_role::signals);
    for (const auto& wait : what.waits) {
      see_reset_races(*wait.which, about_to, event_role::waits);
      if (!wait.which->counter_based) see_stale_signal(*wait.which, about_to);
    }
  }

 private:
  void append(const call_view& call) {
    const command_list* list = look_.state.lists.find_alive(call[hCommandList]);
    const auto see_null_list = [&](argument number, argument handles) {
      if (call[number] > 0 && call.is_null(handles)) {
        look_.report(ev(16), "null", "{} is {}, but {} is null.", path_of(number), call[number],
                     path_of(handles));
      }
    };
    see_null_list(numWaitEvents, phWaitEvents);
    if (call.which == function::zeCommandListAppendWaitOnEvents) {
      see_null_list(numEvents, phEvents);
      if (call[numEvents] == 0) look_.report(ev(20), "none", "The list is to wait for 0 events.");
    }
    see_own_event(call);
    if (list == nullptr) return;
    const bool signals_named_event = call.which == function::zeCommandListAppendSignalEvent;
    see_place(*list, call[hSignalEvent], true);
    see_place(*list, call[hEvent], signals_named_event);
    for (const auto handle : call.list(phWaitEvents)) see_place(*list, handle, false);
    for (const auto handle : call.list(phEvents)) see_place(*list, handle, false);
  }

  // EV-21.
  void see_own_event(const call_view& call) {
    if (call[hSignalEvent] == 0) return;
    const auto waits = call.list(phWaitEvents);
    if (std::find(waits.begin(), waits.end(), call[hSignalEvent]) == waits.end()) return;
    const event* which = look_.state.events.find_alive(call[hSignalEvent]);
    if (which == nullptr || which->counter_based) return;
    look_.report(ev(21), "itself", "The command waits for {} and signals it when it is complete.",
                 look_.name(*which));
  }

  // EV-3 and EV-15.
  void see_place(const command_list& list, uint64_t handle, bool signals) {
    const event* which = handle != 0 ? look_.state.events.find_alive(handle) : nullptr;
    if (which == nullptr) return;
    if (which->owner && list.owner && which->owner != list.owner) {
      look_.report(ev(15), "context", "{} is of {}, but {} is of {}.", look_.name(list),
                   look_.name(*list.owner), look_.name(*which), look_.name(*which->owner));
    }
    if (!which->pool || which->pool->devices.empty() || (which->counter_based && signals)) return;
    const auto& devices = which->pool->devices;
    const auto reaches = [&](uint64_t device) {
      if (device == list.device) return true;
      const auto* part = look_.state.devices.find(list.device);
      return part != nullptr && part->root == device;
    };
    if (std::any_of(devices.begin(), devices.end(), reaches)) return;
    look_.report(ev(3), "device",
                 "{} is of {}, which was made for {} other device{} than that of {}.",
                 look_.name(*which), look_.name(*which->pool), devices.size(),
                 devices.size() == 1 ? "" : "s", look_.name(list));
  }

  // EV-17.
  void see_visibility(const event& which) {
    if (which.host_visible) return;
    if (which.pool) {
      look_.report(ev(17), "pool", "{} is of {}, which was created without HOST_VISIBLE.",
                   look_.name(which), look_.name(*which.pool));
    } else {
      look_.report(ev(17), "flag", "{} was created without HOST_VISIBLE.", look_.name(which));
    }
  }

  // EV-11, by the host.
  void see_host_reset(const event& which) {
    if (which.counter_based || !which.signalled()) return;
    for (const auto& use : which.uses) {
      if (use.role == event_role::resets || !use.who->started || complete(*use.who)) continue;
      finding* made = look_.add(ev(11), "by the host");
      if (made == nullptr) return;
      const bool signals = use.role == event_role::signals;
      made->message = fmt::format(
          "{} is reset, but nothing shows that #{}, which {} it, is complete. {}",
          look_.name(which), number_of(use.who->what->call), verb(use.role),
          signals ? "If the signal comes after the reset, the event is signalled again; if it "
                    "comes before, it is lost."
                  : "If it has not started yet, it will wait for a signal that was undone.");
      made->cause = look_.missing_host_wait(*use.who);
      made->calls = {{use.who->what->call, fmt::format("{} the event", verb(use.role))},
                     {look_.current->number, "resets it"}};
      return;
    }
  }

  // EV-11, by the device: a reset and anything else that is done to the event are ordered.
  void see_reset_races(const event& which, const run& about_to, event_role role) {
    if (which.counter_based) return;
    for (const auto& use : which.uses) {
      if (use.who.get() == &about_to || !use.who->started || complete(*use.who)) continue;
      if ((use.role == event_role::resets) == (role == event_role::resets)) continue;
      if (ordered(*use.who, about_to)) continue;
      finding* made = look_.add_at(about_to.what->call, ev(11), "by the device");
      if (made == nullptr) return;
      const bool resets = role == event_role::resets;
      made->message = fmt::format(
          "#{} resets {} and #{} {} it, and nothing orders the two.",
          number_of((resets ? about_to : *use.who).what->call), look_.name(which),
          number_of((resets ? *use.who : about_to).what->call), verb(resets ? use.role : role));
      made->cause = look_.missing_order(*use.who, about_to);
      made->calls = {{use.who->what->call, fmt::format("{} the event", verb(use.role))},
                     {about_to.what->call, fmt::format("{} it", verb(role))}};
      return;
    }
  }

  // EV-10: the event is signalled from before, while a newer signal is on its way. `newer` is what
  // the waiter cannot have waited for. Of the host's own waits (null) only what was there when they
  // began counts: what another thread did meanwhile may be what they waited for.
  const run* newer_signal(const event& which, const run* waiter) const {
    if (old_signal(which, waiter) == no_call) return nullptr;
    for (const auto& use : which.uses) {
      if (use.role != event_role::signals || complete(*use.who)) continue;
      if (waiter == nullptr && use.who->submitted > look_.current->number) continue;
      if (waiter != nullptr) {
        if (use.who.get() == waiter) continue;
        const bool comes_first = use.who->where == waiter->where
                                     ? use.who->at < waiter->at
                                     : use.who->submitted < waiter->submitted;
        if (!comes_first || (use.who->started && ordered(*use.who, *waiter))) continue;
      }
      return use.who.get();
    }
    return nullptr;
  }

  call_number old_signal(const event& which, const run* waiter) const {
    const auto in_time = [&](call_number signalled) {
      return waiter != nullptr || signalled < look_.current->number;
    };
    if (which.host_signal != no_call && in_time(which.host_signal)) return which.host_signal;
    for (const auto& each : which.signals) {
      if (complete(*each) && in_time(each->submitted)) return each->what->call;
    }
    return no_call;
  }

  void see_stale_signal(const event& which) {
    if (const run* newer = newer_signal(which, nullptr))
      report_stale(which, *newer, look_.current->number, "the host", old_signal(which, nullptr));
  }

  void see_stale_signal(const event& which, const run& waiter) {
    if (const run* newer = newer_signal(which, &waiter))
      report_stale(which, *newer, waiter.what->call, "the command", old_signal(which, &waiter));
  }

  void report_stale(const event& which, const run& newer, call_number waits, const char* who,
                    call_number old) {
    finding* made = look_.add_at(waits, ev(10), who);
    if (made == nullptr) return;
    const bool again = old == newer.what->call;
    made->message = fmt::format(
        "{} waits for {}, which #{} signals{}. But the event is still signalled from {}, so the "
        "wait passes at once.",
        who == std::string_view("the host") ? "The host" : "The command", look_.name(which),
        number_of(newer.what->call),
        again ? fmt::format(" in execution {} of its list", newer.execution) : "",
        again ? fmt::format("execution {}", newer.execution - 1)
              : fmt::format("#{}", number_of(old)));
    if (old != no_call && !again) made->calls.push_back({old, "signalled the event before"});
    made->calls.push_back({newer.what->call, "signals it again"});
    if (newer.submitted != newer.what->call)
      made->calls.push_back({newer.submitted, "executes the list with the signal again"});
    made->calls.push_back({waits, "waits for nothing"});
  }
};

}  // namespace

std::unique_ptr<rule_set> event_rules(inspection& of) {
  return std::make_unique<event_rule_set>(of);
}

}  // namespace zevent::check
