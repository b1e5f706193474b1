#include <level_zero/ze_api.h>

#include <algorithm>
#include <unordered_map>

#include "check/rule_sets.hpp"

namespace zevent::check {
namespace {

using enum argument;
using model::allocation;
using model::complete;
using model::event;
using model::event_role;
using model::memory_access;
using model::no_call;
using model::ordered;
using conflict = model::access_map::conflict;

// EV-18: a wait with timeout 0 that found the event not ready. The program goes on as if it had
// waited when it resets or destroys the event, frees the memory that the work uses or uses it in
// another command, or ends, and has neither asked again nor waited in another way.
class poll_rule_set final : public rule_set {
 public:
  using rule_set::rule_set;

  bool wants(function which) const override {
    using enum function;
    return which == zeEventHostReset || which == zeEventDestroy || which == zeEventPoolDestroy ||
           which == zeMemFree || which == zeMemFreeExt;
  }
  bool wants_end(function which) const override {
    return which == function::zeEventHostSynchronize || which == function::zeEventQueryStatus;
  }

  void begins(const call_view& call) override {
    if (asked_once_.empty() || (call.did_return && call.result != ZE_RESULT_SUCCESS)) return;
    using enum function;
    switch (call.which) {
      case zeMemFreeExt:
        if (call[free_policy] != 0) return;  // it waits by itself
        [[fallthrough]];
      case zeMemFree:
        if (const allocation* memory = look_.state.find_memory_by_start(call[ptr]);
            memory != nullptr && memory->alive())
          see_free(*memory);
        return;
      case zeEventPoolDestroy:
        if (const auto* pool = look_.state.pools.find_alive(call[hEventPool])) {
          for (const auto& [index, each] : pool->slots) see_end_of(each, "destroys the event");
        }
        return;
      default:
        return see_end_of(
            look_.state.events.find_alive(call[hEvent]),
            call.which == zeEventHostReset ? "resets the event" : "destroys the event");
    }
  }

  void ends(const call_view& call) override {
    if (look_.state.events.find_alive(call[hEvent]) == nullptr) return;
    const bool polled = call.which == function::zeEventHostSynchronize && call[timeout] == 0 &&
                        call.result == ZE_RESULT_NOT_READY;
    const auto known = asked_once_.find(call[hEvent]);
    if (polled && known == asked_once_.end())
      asked_once_[call[hEvent]] = call.number;
    else if (polled)
      known->second = no_call;  // it does look at the result
    else if (known != asked_once_.end())
      asked_once_.erase(known);
  }

  // Another command uses what the work has not finished with.
  void conflicts(const conflict& found) override {
    if (asked_once_.empty() || found.ordered || !is_likely(found)) return;
    report_where(
        [&](const run& signals, call_number asked) {
          return found.later.submitted > asked && stands_for(signals, found.earlier);
        },
        fmt::format("uses memory that #{} uses", number_of(found.earlier.what->call)).c_str());
  }

  void finish() override {
    // A program that was ended from outside might have asked again.
    if (look_.cut_off || look_.crashed) return;
    for (const auto& [handle, asked] : asked_once_) {
      const event* which = look_.state.events.find_alive(handle);
      if (which != nullptr && !which->counter_based) report(*which, asked, nullptr);
    }
    asked_once_.clear();
  }

 private:
  // The command that signals the event, when nothing shows that it is complete.
  static const run* pending_signal(const event& which) {
    if (which.counter_based) {
      const run* last = which.last_signal ? which.last_signal->last_run : nullptr;
      return last != nullptr && !complete(*last) ? last : nullptr;
    }
    const auto pending =
        std::find_if(which.uses.begin(), which.uses.end(), [](const model::event_use& use) {
          return use.role == event_role::signals && !complete(*use.who);
        });
    return pending != which.uses.end() ? pending->who.get() : nullptr;
  }

  // Whether waiting for `signals` would have been waiting for `work`.
  static bool stands_for(const run& signals, const run& work) {
    return &signals == &work || (signals.started && ordered(work, signals));
  }

  // A kernel that was given a pointer uses the first byte behind it as good as always.
  static bool is_likely(const conflict& found) {
    const auto uses = [&](const memory_access& each, const memory_access& other) {
      return each.certain || overlap({each.region.first, 1}, other.region).has_value();
    };
    return uses(found.earlier_access, found.later_access) &&
           uses(found.later_access, found.earlier_access);
  }

  // A counter-based event may be destroyed at any time.
  void see_end_of(const event* which, const char* does) {
    if (which == nullptr) return;
    const auto known = asked_once_.find(which->handle);
    if (known == asked_once_.end()) return;
    if (!which->counter_based) report(*which, known->second, does);
    asked_once_.erase(known);
  }

  void see_free(const allocation& memory) {
    report_where(
        [&](const run& signals, call_number) {
          bool uses = std::any_of(
              signals.what->accesses.begin(), signals.what->accesses.end(),
              [&](const memory_access& each) {
                return each.certain && overlap(each.region, {memory.handle, memory.bytes});
              });
          look_.state.accesses().for_each_pending(
              memory.handle, memory.end(), [&](const run& work, const memory_access& what) {
                uses |= what.certain && stands_for(signals, work);
              });
          return uses;
        },
        "frees memory that it uses");
  }

  // For each event that was asked for once and whose signalling command fits.
  template <typename Fits>
  void report_where(Fits&& fits, const char* does) {
    std::erase_if(asked_once_, [&](const auto& each) {
      if (each.second == no_call) return false;
      const event* which = look_.state.events.find_alive(each.first);
      const run* signals = which != nullptr ? pending_signal(*which) : nullptr;
      if (signals == nullptr || !fits(*signals, each.second)) return false;
      report(*which, each.second, does);
      return true;
    });
  }

  // `does`: what the current call does, in words that follow it; null at the end of the program.
  void report(const event& which, call_number asked, const char* does) {
    const run* signals = asked != no_call ? pending_signal(which) : nullptr;
    if (signals == nullptr) return;
    finding* made = look_.add_at(asked, ev(18), "not repeated");
    if (made == nullptr) return;
    made->message = fmt::format(
        "The wait for {} has a timeout of 0 and found it not ready; the program went on as if it "
        "had waited.",
        look_.name(which));
    made->calls = {{signals->what->call, "signals the event"},
                   {asked, "asks once and does not wait"}};
    if (does != nullptr) made->calls.push_back({look_.current->number, does});
  }

  std::unordered_map<uint64_t, call_number> asked_once_;  // by event; no_call: more than once
};

}  // namespace

std::unique_ptr<rule_set> poll_rules(inspection& of) {
  return std::make_unique<poll_rule_set>(of);
}

}  // namespace zevent::check
