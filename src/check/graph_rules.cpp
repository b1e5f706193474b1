#include <level_zero/ze_api.h>

#include "check/rule_sets.hpp"

namespace zevent::check {
namespace {

using enum argument;
using model::command_list;
using model::event;

bool is_internal(const event& which) {
  return which.captured && which.counter_based &&
         (which.counter_flags & ZE_EVENT_COUNTER_BASED_FLAG_GRAPH_EXTERNAL) == 0;
}

class graph_rule_set final : public rule_set {
 public:
  using rule_set::rule_set;

  bool wants(function which) const override {
    using enum function;
    switch (which) {
      case zeCommandListBeginGraphCaptureExt:
      case zeCommandListBeginCaptureIntoGraphExt:
      case zeCommandListHostSynchronize:
      case zeEventHostSynchronize:
      case zeEventQueryStatus:
        return true;
      default:
        return is_append(which);
    }
  }

  void begins(const call_view& call) override {
    using enum function;
    const command_list* list = look_.state.lists.find_alive(call[hCommandList]);
    switch (call.which) {
      case zeCommandListBeginGraphCaptureExt:
      case zeCommandListBeginCaptureIntoGraphExt:
        if (list != nullptr) begin(*list);
        return;
      case zeCommandListHostSynchronize:
        if (list != nullptr && list->is_capturing()) {
          look_.report(ev(66), "list", "{} is capturing a graph since #{}: nothing of it runs.",
                       look_.name(*list), number_of(list->capture->begun));
        }
        return;
      case zeEventHostSynchronize:
      case zeEventQueryStatus:
        if (const event* which = look_.state.events.find_alive(call[hEvent])) see_host(*which);
        return;
      default:
        if (list != nullptr) append(call, *list);
        return;
    }
  }

 private:
  // EV-69.
  void begin(const command_list& list) {
    if (!list.immediate) {
      look_.report(ev(69), "regular", "{} is a regular list.", look_.name(list));
    } else if (list.synchronous) {
      look_.report(ev(69), "synchronous", "{} is a synchronous list.", look_.name(list));
    }
  }

  // EV-66 while the graph is captured, EV-67 afterwards.
  void see_host(const event& which) {
    if (!which.captured) return;
    if (which.captured->capturing) {
      look_.report(ev(66), "event",
                   "{} is to be signalled by a command that is captured into a graph and does not "
                   "run.",
                   look_.name(which));
    } else if (is_internal(which)) {
      report_internal(which, "host");
    }
  }

  void append(const call_view& call, const command_list& list) {
    const auto see_wait = [&](uint64_t handle) {
      const event* which = look_.state.events.find_alive(handle);
      if (which == nullptr || !which->captured) return;
      if (list.is_capturing() && which->captured->capturing && which->captured != list.capture) {
        look_.report(ev(68), "merge", "{} captures one graph, and {} belongs to another capture.",
                     look_.name(list), look_.name(*which));
      } else if (is_internal(*which) && !list.capture &&
                 (!list.immediate || !which->captured->capturing)) {
        report_internal(*which, "list");
      }
    };
    for (const auto handle : call.list(phWaitEvents)) see_wait(handle);
    if (call.which == function::zeCommandListAppendWaitOnEvents) {
      for (const auto handle : call.list(phEvents)) see_wait(handle);
    }
  }

  // EV-67.
  void report_internal(const event& which, const char* kind) {
    look_.report(ev(67), kind,
                 "{} is signalled inside of a graph and was not created with GRAPH_EXTERNAL: "
                 "outside of the graph it says nothing.",
                 look_.name(which));
  }
};

}  // namespace

std::unique_ptr<rule_set> graph_rules(inspection& of) {
  return std::make_unique<graph_rule_set>(of);
}

}  // namespace zevent::check
