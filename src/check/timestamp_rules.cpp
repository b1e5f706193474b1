#include <level_zero/ze_api.h>

#include <algorithm>
#include <unordered_map>

#include "check/rule_sets.hpp"

namespace zevent::check {
namespace {

using enum argument;
using model::complete;
using model::event;
using model::no_call;
using model::ordered;

class timestamp_rule_set final : public rule_set {
 public:
  using rule_set::rule_set;

  bool wants(function which) const override {
    using enum function;
    switch (which) {
      case zeEventQueryKernelTimestamp:
      case zeEventQueryKernelTimestampsExt:
      case zeEventQueryTimestampsExp:
      case zeCommandListAppendQueryKernelTimestamps:
      case zeCommandListAppendWriteGlobalTimestamp:
      case zeEventDestroy:
      case zeEventPoolDestroy:
      case zeEventHostReset:
        return true;
      default:
        return false;
    }
  }

  bool wants_end(function which) const override {
    return which == function::zeEventQueryKernelTimestamp ||
           which == function::zeEventQueryKernelTimestampsExt ||
           which == function::zeEventQueryTimestampsExp;
  }

  void begins(const call_view& call) override {
    using enum function;
    const event* which = look_.state.events.find_alive(call[hEvent]);
    switch (call.which) {
      case zeEventQueryKernelTimestamp:
      case zeEventQueryTimestampsExp:
        if (which != nullptr) see_flag(*which);
        return;
      case zeEventQueryKernelTimestampsExt:
        if (which != nullptr) see_results(call, *which);
        return;
      case zeCommandListAppendQueryKernelTimestamps:
        for (const auto handle : call.list(phEvents)) {
          if (const event* each = look_.state.events.find_alive(handle)) see_flag(*each);
        }
        return see_alignment_of_results(call);
      case zeCommandListAppendWriteGlobalTimestamp:
        if (call[dstptr] % sizeof(uint64_t) != 0) {
          look_.report(ev(32), "global", "dstptr is {:#x}, which is not aligned to 8 bytes.",
                       call[dstptr]);
        }
        return;
      case zeEventPoolDestroy:
        if (unanswered_.empty()) return;
        if (const auto* pool = look_.state.pools.find_alive(call[hEventPool])) {
          for (const auto& [slot, each] : pool->slots) see_unanswered(*each);
        }
        return;
      default:
        if (which != nullptr) see_unanswered(*which);
        return;
    }
  }

  void ends(const call_view& call) override {
    const event* which = look_.state.events.find_alive(call[hEvent]);
    if (which == nullptr) return;
    if (call.result == ZE_RESULT_NOT_READY) {
      unanswered_[which->handle] = {call.number, signal_pending(*which)};
      return;
    }
    const bool is_plain = call.which == function::zeEventQueryKernelTimestamp;
    // Of the others, the first call may be for their number only.
    if (!is_plain && call[count_given] == 0) return;
    unanswered_.erase(which->handle);
    if (!call.succeeded() || !is_plain) return;
    see_meaning(*which, call.number);
    see_wrap(call, *which);
  }

  void starting(const run& about_to) override {
    if (!unanswered_.empty() && about_to.what->signal)
      see_new_signal(*about_to.what->signal, about_to);
    for (const auto& each : about_to.what->timestamps_of) {
      see_meaning(*each, about_to.what->call);
      see_signalled_before(*each, about_to);
    }
  }

  void finish() override {
    // A program that was ended from outside might have asked again.
    if (look_.cut_off || look_.crashed) return;
    for (const auto& [handle, asked] : unanswered_) {
      if (const event* which = look_.state.events.find_alive(handle))
        report_unanswered(*which, asked);
    }
  }

 private:
  struct unanswered_query {
    call_number call = no_call;
    bool signal_pending = false;  // a command that signals the event was under way
  };

  // EV-28.
  void see_flag(const event& which) {
    if (which.timestamps || which.imported) return;
    look_.report(
        ev(28), "none", "{} {} created without a timestamp flag.",
        which.pool ? look_.name(*which.pool) + " of " + look_.name(which) : look_.name(which),
        "was");
  }

  // EV-28 and EV-33.
  void see_results(const call_view& call, const event& which) {
    see_flag(which);
    const auto buffers = call.list(synchronized_start);
    const bool synchronised =
        std::any_of(buffers.begin(), buffers.end(), [](uint64_t address) { return address != 0; });
    if (synchronised && which.timestamps && !which.mapped_timestamps) {
      look_.report(ev(28), "mapped",
                   "Synchronised timestamps are asked for, but {} has no mapped timestamps.",
                   look_.name(which));
    }
    const bool asks_for_count = call[count_given] == 0 || call.is_null(pResults);
    if (asks_for_count) {
      counted_[which.handle] = call[pCount];
      return;
    }
    if (!counted_.contains(which.handle)) {
      look_.report(ev(33), "not asked",
                   "Room for {} results is given, but the number of them was never asked for.",
                   call[count_given]);
    }
  }

  // EV-32.
  void see_alignment_of_results(const call_view& call) {
    constexpr uint64_t result_alignment = alignof(ze_kernel_timestamp_result_t);
    if (call[dstptr] % result_alignment != 0) {
      look_.report(ev(32), "results", "dstptr is {:#x}, which is not aligned to {} bytes.",
                   call[dstptr], result_alignment);
    }
    for (const auto offset : call.list(pOffsets)) {
      if (offset % 4 == 0) continue;
      look_.report(ev(32), "offset", "The offset {} is not a multiple of 4.", offset);
      return;
    }
  }

  static bool signal_pending(const event& which) {
    if (which.counter_based) {
      const run* last = which.last_signal ? which.last_signal->last_run : nullptr;
      return last != nullptr && !complete(*last);
    }
    return std::any_of(which.uses.begin(), which.uses.end(), [](const auto& use) {
      return use.role == model::event_role::signals && !complete(*use.who);
    });
  }

  // EV-29, on the host: asked, not answered, and not asked again.
  void see_unanswered(const event& which) {
    const auto known = unanswered_.find(which.handle);
    if (known == unanswered_.end()) return;
    report_unanswered(which, known->second);
    unanswered_.erase(known);
  }

  // The timestamps that were asked for are gone: those of another command take their place.
  void see_new_signal(const event& which, const run& signals) {
    const auto known = unanswered_.find(which.handle);
    if (known == unanswered_.end() || !known->second.signal_pending) return;
    if (signals.submitted <= known->second.call) return;
    report_unanswered(which, known->second,
                      finding::involved{signals.what->call, "signals the event again"});
    unanswered_.erase(known);
  }

  void report_unanswered(const event& which, const unanswered_query& asked,
                         std::optional<finding::involved> loses = std::nullopt) {
    // With nothing under way that could have answered, the program may just have wanted to know.
    finding* made =
        look_.add_at(asked.call, ev(29), "host",
                     asked.signal_pending ? std::nullopt : std::optional(severity::note));
    if (made == nullptr) return;
    made->message = fmt::format(
        "{} was not signalled yet: the query returned NOT_READY, wrote nothing, and was not "
        "repeated.",
        look_.name(which));
    made->calls = {{asked.call, "asks too early"}};
    if (loses) made->calls.push_back(std::move(*loses));
  }

  // EV-29, on the device.
  void see_signalled_before(const event& which, const run& query) {
    if (which.counter_based || which.foreign) return;
    bool certain = which.signalled();
    call_number signal = no_call;
    for (const auto& each : which.signals) {
      if (complete(*each) || ordered(*each, query)) continue;
      certain = false;
      signal = each->what->call;
    }
    if (certain) return;
    finding* made = look_.add_at(query.what->call, ev(29), "device");
    if (made == nullptr) return;
    if (signal == no_call) {
      made->message =
          fmt::format("Nothing signals {} before its timestamps are copied.", look_.name(which));
    } else {
      made->message = fmt::format(
          "Nothing orders #{}, which signals {}, before the query: the timestamps may be copied "
          "before there are any.",
          number_of(signal), look_.name(which));
      made->calls.push_back({signal, "signals the event"});
    }
    made->calls.push_back({query.what->call, "copies its timestamps"});
  }

  // EV-30.
  void see_meaning(const event& which, call_number asked) {
    call_number by = no_call;
    if (which.host_signal != no_call) {
      by = which.host_signal;
    } else if (!which.signals.empty() &&
               which.signals.back()->what->which == function::zeCommandListAppendSignalEvent) {
      by = which.signals.back()->what->call;
    } else if (which.last_signal &&
               which.last_signal->which == function::zeCommandListAppendSignalEvent) {
      by = which.last_signal->call;
    }
    if (by == no_call) return;
    finding* made = look_.add_at(asked, ev(30), "no command");
    if (made == nullptr) return;
    made->message = fmt::format(
        "{} was signalled by #{}, which is no work that takes time: its "
        "timestamps are undefined.",
        look_.name(which), number_of(by));
    made->calls = {{by, "signals the event"}, {asked, "asks for its timestamps"}};
  }

  // EV-31.
  void see_wrap(const call_view& call, const event& which) {
    if (!call.has(timestamp_start) || call[timestamp_end] >= call[timestamp_start]) return;
    finding* made = look_.add(ev(31), "wrap");
    if (made == nullptr) return;
    made->message = fmt::format(
        "The timestamps of {} end ({}) before they start ({}): the counter wrapped, and a plain "
        "difference is wrong.",
        look_.name(which), call[timestamp_end], call[timestamp_start]);
  }

  std::unordered_map<uint64_t, unanswered_query> unanswered_;  // by event
  std::unordered_map<uint64_t, uint64_t> counted_;             // by event
};

}  // namespace

std::unique_ptr<rule_set> timestamp_rules(inspection& of) {
  return std::make_unique<timestamp_rule_set>(of);
}

}  // namespace zevent::check
