#include <level_zero/ze_api.h>

#include <algorithm>

#include "check/rule_sets.hpp"
#include "check/wait_chain.hpp"
#include "model/symptom.hpp"

namespace zevent::check {
namespace {

using enum argument;
using model::command_list;
using model::command_queue;
using model::complete;
using model::event;
using model::event_role;
using model::event_wait;
using model::fence;
using model::no_call;
using model::ref;
using model::stream;

// Waits of the host that ended by their timeout and could not have ended otherwise.
//
// EV-12: nothing that could signal the event had been submitted. In a program of one thread that is
// certain, whatever signals the event later. Where there are several threads, another one may be
// late, or the wait may be a poll: only a single wait for an event that is never signalled counts.
// EV-13: what the host waited for was held up by a cycle, which the same thread broke afterwards.
class timed_out_rule_set final : public rule_set {
 public:
  using rule_set::rule_set;

  bool wants(function which) const override {
    using enum function;
    return which == zeEventHostSignal || which == zeEventDestroy || which == zeEventPoolDestroy;
  }
  bool wants_began(function which) const override { return wants(which); }
  bool wants_end(function which) const override {
    using enum function;
    return which == zeEventHostSynchronize || which == zeCommandQueueSynchronize ||
           which == zeCommandListHostSynchronize || which == zeFenceHostSynchronize;
  }

  void begins(const call_view& call) override {
    // What other commands have got going since is no matter of this call.
    std::erase_if(cycles_, [](const held_cycle& each) { return is_broken(each); });
    if (waits_.empty() || !has_effect(call)) return;
    switch (call.which) {
      case function::zeEventHostSignal:
        return see_signal(look_.state.events.find_alive(call[hEvent]), call.number);
      case function::zeEventDestroy:
        return see_destruction(look_.state.events.find_alive(call[hEvent]));
      default:
        if (const auto* pool = look_.state.pools.find_alive(call[hEventPool])) {
          for (const auto& [index, each] : pool->slots) see_destruction(each);
        }
        return;
    }
  }

  // The model has started what the call sets free.
  void began(const call_view& call) override {
    std::erase_if(cycles_, [&](const held_cycle& each) {
      if (!is_broken(each)) return false;
      const bool signals = call.which == function::zeEventHostSignal;
      if (!signals || call.thread == each.thread) report(each, call.number, signals);
      return true;
    });
  }

  void ends(const call_view& call) override {
    const bool bounded = call[timeout] != 0 && call[timeout] != UINT64_MAX;
    if (!bounded || call.result != ZE_RESULT_NOT_READY) return;
    if (call.which == function::zeEventHostSynchronize) return see_event_wait(call);
    const stream* waited_for = stream_of(call);
    if (waited_for == nullptr || !waited_for->blocked()) return;
    const run& front = *waited_for->runs[waited_for->started];
    if (const event_wait* wait = missing_wait(front))
      hold_if_cycle(follow_waits(look_, *wait, &front), call);
  }

  void starting(const run& about_to) override {
    if (!waits_.empty() && about_to.what->signal)
      see_signal(about_to.what->signal.get(), about_to.submitted);
  }

  void finish() override {
    for (const auto& each : waits_) {
      if (!may_be_signalled(*each.which)) report_unless_polled(each);
    }
  }

 private:
  static constexpr size_t max_held = 256;

  struct held_wait {
    ref<event> which;
    call_number call = no_call;
    uint32_t thread = 0;
    uint64_t timeout_ns = 0;
    bool repeated = false;
    wait_chain reasons;
  };
  struct held_cycle {
    call_number call = no_call;
    uint32_t thread = 0;
    wait_chain reasons;
  };

  static bool has_effect(const call_view& call) {
    return !call.did_return || call.result == ZE_RESULT_SUCCESS;
  }

  const stream* stream_of(const call_view& call) const {
    using enum function;
    switch (call.which) {
      case zeCommandQueueSynchronize: {
        const command_queue* queue = look_.state.queues.find_alive(call[hCommandQueue]);
        return queue != nullptr ? queue->own.get() : nullptr;
      }
      case zeCommandListHostSynchronize: {
        const command_list* list = look_.state.lists.find_alive(call[hCommandList]);
        return list != nullptr ? list->own.get() : nullptr;
      }
      default: {
        const fence* which = look_.state.fences.find_alive(call[hFence]);
        return which != nullptr && which->queue && which->pending > 0 ? which->queue->own.get()
                                                                      : nullptr;
      }
    }
  }

  void see_event_wait(const call_view& call) {
    event* which = look_.state.events.find_alive(call[hEvent]);
    if (which == nullptr || which->foreign) return;
    const auto known = std::find_if(waits_.begin(), waits_.end(), [&](const held_wait& each) {
      return each.which.get() == which;
    });
    if (known != waits_.end()) {
      known->repeated = true;
      return;
    }
    const event_wait wait{ref<event>(which), which->last_signal};
    if (may_be_signalled(*which)) {
      if (!which->signalled()) hold_if_cycle(follow_waits(look_, wait, nullptr), call);
      return;
    }
    if (waits_.size() >= max_held) return;
    held_wait held{ref<event>(which), call.number, call.thread, call[timeout], false, {}};
    explain_absence(look_, wait, moment::end_of_wait, held.reasons);
    waits_.push_back(std::move(held));
  }

  // Something is under way that signals it, or may be, in this process or another.
  static bool may_be_signalled(const event& which) {
    if (which.foreign || which.imported || which.exported || which.captured) return true;
    if (which.pool && which.pool->exported) return true;
    if (which.counter_based) return !which.last_signal || which.last_signal->executions > 0;
    return which.signalled() ||
           std::any_of(which.uses.begin(), which.uses.end(), [](const model::event_use& use) {
             return use.role == event_role::signals && !complete(*use.who);
           });
  }

  void see_signal(const event* which, call_number by) {
    std::erase_if(waits_, [&](const held_wait& each) {
      if (each.which.get() != which) return false;
      if (!look_.several_threads) report(each, by);
      return true;
    });
  }

  void see_destruction(const event* which) {
    std::erase_if(waits_, [&](const held_wait& each) {
      if (each.which.get() != which) return false;
      report_unless_polled(each);
      return true;
    });
  }

  void report_unless_polled(const held_wait& found) {
    if (!look_.several_threads || !found.repeated) report(found, no_call);
  }

  // EV-12. `later`: what signals the event after all.
  void report(const held_wait& found, call_number later) {
    const bool may_come = later == no_call && (look_.cut_off || look_.crashed);
    finding* made =
        look_.add_at(found.call, ev(12), "timed out", may_come ? severity::note : severity::hazard);
    if (made == nullptr) return;
    made->message = fmt::format(
        "The wait for {} ended by its timeout of {}, and could not have ended otherwise.",
        look_.name(*found.which), model::time_text(found.timeout_ns));
    made->steps = found.reasons.steps;
    made->calls = found.reasons.calls;
    made->calls.push_back({found.call, "times out"});
    if (later == no_call) {
      made->steps.emplace_back("Nothing signals it afterwards either.");
    } else {
      made->steps.push_back(fmt::format("Only #{} signals it, after the wait.", number_of(later)));
      made->calls.push_back({later, "signals it later"});
    }
  }

  static bool is_broken(const held_cycle& held) {
    return std::any_of(held.reasons.cycle.begin(), held.reasons.cycle.end(),
                       [](const ref<const run>& each) { return each->started; });
  }

  void hold_if_cycle(wait_chain reasons, const call_view& call) {
    if (reasons.rule != ev(13) || cycles_.size() >= max_held) return;
    const run* member = reasons.cycle.front().get();
    const bool known = std::any_of(cycles_.begin(), cycles_.end(), [&](const held_cycle& each) {
      const auto& cycle = each.reasons.cycle;
      return std::any_of(cycle.begin(), cycle.end(),
                         [&](const auto& other) { return other.get() == member; });
    });
    if (!known) cycles_.push_back({call.number, call.thread, std::move(reasons)});
  }

  // EV-13. `signals`: the host has broken the cycle; else it has destroyed an event of it.
  void report(const held_cycle& found, call_number by, bool signals) {
    finding* made = look_.add_at(found.call, ev(13), "timed out",
                                 signals ? std::optional(severity::hazard) : std::nullopt);
    if (made == nullptr) return;
    made->message = fmt::format(
        "The wait timed out because commands wait for each other; only #{}, by which the host {} "
        "an event of theirs, sets them free.",
        number_of(by), signals ? "signals" : "destroys");
    made->steps = found.reasons.steps;
    made->calls = found.reasons.calls;
    made->calls.push_back({found.call, "times out"});
    made->calls.push_back({by, "breaks the cycle"});
  }

  std::vector<held_wait> waits_;    // one for each event
  std::vector<held_cycle> cycles_;  // one for each cycle
};

}  // namespace

std::unique_ptr<rule_set> timed_out_rules(inspection& of) {
  return std::make_unique<timed_out_rule_set>(of);
}

}  // namespace zevent::check
