#include <level_zero/ze_api.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "check/rule_sets.hpp"

namespace zevent::check {
namespace {

using enum argument;
using model::command_list;
using model::complete;

std::string duration_text(uint64_t ns) {
  if (ns < 10'000) return fmt::format("{} ns", ns);
  if (ns < 1'000'000) return fmt::format("{:.1f} µs", static_cast<double>(ns) / 1e3);
  if (ns < 10'000'000'000) return fmt::format("{:.1f} ms", static_cast<double>(ns) / 1e6);
  return fmt::format("{:.1f} s", static_cast<double>(ns) / 1e9);
}

class blocking_rule_set final : public rule_set {
 public:
  using rule_set::rule_set;

  bool wants(function) const override { return true; }

  void begins(const call_view& call) override {
    see_polling(call);
    if (!call.did_return) return;
    const uint64_t took = call.end_ns - call.start_ns;
    if (took > look_.options.blocking_ns && may_not_block(call)) report_block(call, took);
    see_overrun(call, took);
  }

 private:
  struct polling {
    function which = function::other;
    uint64_t handle = 0;
    uint64_t times = 0;
    call_number first = model::no_call;
  };

  bool may_not_block(const call_view& call) const {
    using enum function;
    switch (call.which) {
      case zeEventHostSynchronize:
      case zeFenceHostSynchronize:
      case zeCommandQueueSynchronize:
      case zeCommandListHostSynchronize:
        return call[timeout] == 0;
      case zeEventQueryStatus:
      case zeFenceQueryStatus:
      case zeEventQueryKernelTimestamp:
      case zeEventQueryKernelTimestampsExt:
      case zeEventQueryTimestampsExp:
      case other_query:
        return true;
      default:
        break;
    }
    if (!is_append(call.which)) return false;
    const command_list* list = look_.state.lists.find_alive(call[hCommandList]);
    return list != nullptr && !list->synchronous;
  }

  // EV-70, with what the device was at. While the device is idle, time went elsewhere: to starting
  // threads, or to other programs.
  void report_block(const call_view& call, uint64_t took) {
    const auto& streams = look_.state.streams();
    const bool busy_device =
        std::any_of(streams.begin(), streams.end(), [](const auto& each) { return each->busy(); });
    finding* made = look_.add(ev(70), call.name.data(),
                              busy_device ? std::nullopt : std::optional(severity::note));
    if (made == nullptr) return;
    made->message = fmt::format("{} took {}, more than {}.", call.name, duration_text(took),
                                duration_text(look_.options.blocking_ns));
    size_t listed = 0;
    for (const auto& each : streams) {
      std::vector<const run*> pending;
      for (const auto& candidate : each->runs) {
        if (!complete(*candidate)) pending.push_back(candidate.get());
      }
      if (pending.empty()) continue;
      if (++listed > 4) break;
      describe_stream(*made, *each, pending);
    }
    if (listed == 0) made->steps.push_back("As far as the recording shows, the device was idle.");
    describe_signal(*made, call);
    made->calls.push_back({call.number, fmt::format("took {}", duration_text(took))});
  }

  static std::string text_of(const run& which) {
    return fmt::format("#{} {}", number_of(which.what->call), describe(*which.what));
  }

  // What may have been running or waiting on one queue or immediate list, the first and the last of
  // it, and who submitted it.
  void describe_stream(finding& made, const model::stream& where,
                       const std::vector<const run*>& pending) const {
    constexpr size_t most = 12;
    std::string commands;
    for (size_t i = 0; i < pending.size(); ++i) {
      if (pending.size() > most && i == most / 2) {
        commands += fmt::format(", … ({} more)", pending.size() - most);
        i = pending.size() - most / 2;
      }
      if (!commands.empty()) commands += ", ";
      commands += text_of(*pending[i]);
      if (!pending[i]->started) commands += " (waits for an event)";
    }
    std::vector<std::string> submissions;
    for (const run* each : pending) {
      if (each->submitted == each->what->call) continue;
      auto text = fmt::format("#{}", number_of(each->submitted));
      if (submissions.empty() || submissions.back() != text) submissions.push_back(std::move(text));
    }
    std::string submitted;
    for (size_t i = 0; i < submissions.size() && i < 3; ++i)
      submitted += (i == 0 ? "; submitted by " : ", ") + submissions[i];
    made.steps.push_back(fmt::format("{} had {} command{} not known to be complete: {}{}.",
                                     look_.name(where), pending.size(),
                                     pending.size() == 1 ? "" : "s", commands, submitted));
    // Of all that was pending, kernels run longest as a rule, and the first of them may be over.
    const auto launch = std::find_if(pending.rbegin(), pending.rend(), [](const run* each) {
      return each->started && is_launch(each->what->which);
    });
    const run& shown = launch != pending.rend() ? **launch : *pending.front();
    made.calls.push_back({shown.what->call, "the device may have been at this"});
    if (shown.submitted != shown.what->call) made.calls.push_back({shown.submitted, "submits it"});
  }

  // Who signals the event that the call asks for.
  void describe_signal(finding& made, const call_view& call) const {
    const auto* asked = look_.state.events.find_alive(call[hEvent]);
    if (asked == nullptr) return;
    const run* signals = nullptr;
    if (asked->counter_based) {
      signals = asked->last_signal ? asked->last_signal->last_run : nullptr;
    } else {
      for (const auto& use : asked->uses) {
        if (use.role == model::event_role::signals && !complete(*use.who)) signals = use.who.get();
      }
    }
    if (signals == nullptr || complete(*signals)) return;
    made.steps.push_back(fmt::format("{} is signalled by {} on {}.", look_.name(*asked),
                                     text_of(*signals), look_.name(*signals->where)));
  }

  // EV-71.
  void see_overrun(const call_view& call, uint64_t took) {
    if (!call.has(timeout) || call[timeout] == 0 || call[timeout] == UINT64_MAX) return;
    uint64_t most = 0;
    if (__builtin_add_overflow(call[timeout], look_.options.overrun_ns, &most) || took <= most)
      return;
    look_.report(ev(71), call.name.data(), "The wait was to end after {} and took {}.",
                 duration_text(call[timeout]), duration_text(took));
  }

  // EV-72.
  void see_polling(const call_view& call) {
    using enum function;
    auto& last = polls_[call.thread];
    const bool asks = call.which == zeEventQueryStatus || call.which == zeFenceQueryStatus ||
                      (call.which == zeEventHostSynchronize && call[timeout] == 0);
    if (!asks) {
      last = {};
      return;
    }
    const uint64_t handle = call[call.which == zeFenceQueryStatus ? hFence : hEvent];
    if (last.which != call.which || last.handle != handle)
      last = {call.which, handle, 0, call.number};
    if (++last.times != look_.options.polls + 1) return;
    finding* made = look_.add_at(last.first, ev(72), call.name.data());
    if (made == nullptr) return;
    made->message = fmt::format(
        "{} asked for {} more than {} times in a row, with no other call between.", call.name,
        look_.name(call.which == zeFenceQueryStatus ? model::object_kind::fence
                                                    : model::object_kind::event,
                   handle),
        look_.options.polls);
    made->calls = {{last.first, "asks for the first time"},
                   {call.number, "asks again, and it is not the last time"}};
  }

  std::unordered_map<uint32_t, polling> polls_;  // by thread
};

}  // namespace

std::unique_ptr<rule_set> blocking_rules(inspection& of) {
  return std::make_unique<blocking_rule_set>(of);
}

}  // namespace zevent::check
