#include <level_zero/ze_api.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "check/rule_sets.hpp"
#include "model/call_time.hpp"
#include "model/symptom.hpp"

namespace zevent::check {
namespace {

using enum argument;
using model::command_list;
using model::complete;
using model::time_text;

// A bounded wait may overrun its timeout by one part in so many.
constexpr uint64_t overrun_share = 20;
// Of notes, whatever explains them.
constexpr std::string_view advice_of_notes =
    "Nothing: as far as is known this is not the driver's fault.";
// So many slow calls of a function are described with what the device was at.
constexpr size_t max_described = 64;

class blocking_rule_set final : public rule_set {
 public:
  explicit blocking_rule_set(inspection& of)
      : rule_set(of),
        blocks_judge_(of.options.blocking_ns),
        overruns_judge_(of.options.overrun_ns) {}

  bool wants(function) const override { return true; }

  void begins(const call_view& call) override {
    see_polling(call);
    if (!call.did_return) return;
    const uint64_t took = call.end_ns - call.start_ns;
    if (may_not_block(call)) see_block(call, took);
    if (call.has(timeout)) see_overrun(call, took);
  }

  void calls_end() override {
    for (auto& each : blocks_) report_block(each);
    for (const auto& each : overruns_) report_overrun(each);
  }

 private:
  struct polling {
    function which = function::other;
    uint64_t handle = 0;
    uint64_t times = 0;
    call_number first = model::no_call;
  };

  // A call that took long: whether that is a finding is known when all calls were seen.
  struct slow_call {
    call_number number;
    std::string_view name;
    model::stall_judge::candidate judged;
    bool device_is_busy = false;
    std::vector<std::string> steps;
    std::vector<finding::involved> calls;
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
      case zeCommandListGetGraphExt:
      case other_query:
        return true;
      default:
        break;
    }
    if (!is_append(call.which)) return false;
    const command_list* list = look_.state.lists.find_alive(call[hCommandList]);
    return list != nullptr && !list->synchronous;
  }

  static model::call_use use_of(const call_view& call) {
    model::call_use use;
    use.function = static_cast<uint32_t>(call.which);
    if (is_append(call.which)) {
      use.list = call[hCommandList];
      use.kernel = call[hKernel];
    }
    return use;
  }

  const trace::call_usage* usage_of(const call_view& call, uint64_t took, uint64_t limit) const {
    return took > limit ? look_.usage_of(call.number) : nullptr;
  }

  void see_block(const call_view& call, uint64_t took) {
    const uint64_t limit = look_.options.blocking_ns;
    const auto judged =
        blocks_judge_.add(use_of(call), model::explain_time(took, usage_of(call, took, limit)));
    if (took <= limit) return;
    const auto& streams = look_.state.streams();
    auto& slow = blocks_.emplace_back(slow_call{call.number, call.name, judged, false, {}, {}});
    slow.device_is_busy =
        std::any_of(streams.begin(), streams.end(), [](const auto& each) { return each->busy(); });
    if (described_[call.which]++ < max_described) describe_device(slow, call);
  }

  // With what the device was at.
  void describe_device(slow_call& slow, const call_view& call) const {
    finding made{};
    size_t listed = 0;
    for (const auto& each : look_.state.streams()) {
      std::vector<const run*> pending;
      for (const auto& candidate : each->runs) {
        if (!complete(*candidate)) pending.push_back(candidate.get());
      }
      if (pending.empty()) continue;
      if (++listed > 4) break;
      describe_stream(made, *each, pending);
    }
    if (listed == 0) made.steps.push_back("As far as the recording shows, the device was idle.");
    describe_signal(made, call);
    slow.steps = std::move(made.steps);
    slow.calls = std::move(made.calls);
  }

  // EV-70. While the device is idle, time went elsewhere: to starting threads, or to other
  // programs.
  void report_block(slow_call& slow) {
    const auto verdict = blocks_judge_.judge(slow.judged);
    const bool is_finding = verdict == model::stall_verdict::stall && slow.device_is_busy;
    finding* made = look_.add_at(slow.number, ev(70), slow.name.data(),
                                 is_finding ? std::nullopt : std::optional(severity::note));
    if (made == nullptr) return;
    if (!is_finding) made->advice = advice_of_notes;
    const auto& time = slow.judged.time;
    const auto took = time_text(time.duration_ns);
    made->message = fmt::format("{} took {}, {}.", slow.name, took, reason_text(verdict, time));
    made->steps = std::move(slow.steps);
    made->calls = std::move(slow.calls);
    if (verdict == model::stall_verdict::stall && !time.has_note)
      made->steps.push_back("What its thread did meanwhile was not recorded.");
    made->calls.push_back({slow.number, fmt::format("took {}", took)});
  }

  std::string reason_text(model::stall_verdict verdict, const model::call_time& time) const {
    const auto explained = model::explanation_text(time);
    const auto of_which = explained.empty() ? "" : ", of which " + explained;
    switch (verdict) {
      case model::stall_verdict::explained:
        return "of which " + explained;
      case model::stall_verdict::unnoted:
        return "and what its thread did meanwhile was not recorded; its other slow calls are "
               "explained";
      case model::stall_verdict::first_use:
        return "the first time; later calls were quick" + of_which;
      case model::stall_verdict::rare:
        return "as fewer than one in a thousand of its calls did" + of_which;
      default:
        break;
    }
    const auto limit = time_text(look_.options.blocking_ns);
    if (explained.empty()) return fmt::format("more than {}", limit);
    return fmt::format("of which {}; {} are left, more than {}", explained,
                       time_text(time.unexplained_ns()), limit);
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
    if (call[timeout] == 0 || call[timeout] == UINT64_MAX) return;
    const uint64_t tolerated = std::max(look_.options.overrun_ns, call[timeout] / overrun_share);
    uint64_t limit = 0;
    const bool overflows = __builtin_add_overflow(call[timeout], tolerated, &limit);
    const auto* usage = overflows ? nullptr : usage_of(call, took, limit);
    const auto judged =
        overruns_judge_.add(use_of(call), model::explain_time(took, usage, call[timeout]));
    if (!overflows && took > limit)
      overruns_.push_back({call.number, call.name, judged, false, {}, {}});
  }

  void report_overrun(const slow_call& slow) {
    const auto verdict = overruns_judge_.judge(slow.judged);
    const auto& time = slow.judged.time;
    const bool is_in_proportion = time.unexplained_ns() > time.allowed_ns / overrun_share;
    const bool is_finding = verdict == model::stall_verdict::stall && is_in_proportion;
    finding* made = look_.add_at(slow.number, ev(71), slow.name.data(),
                                 is_finding ? std::nullopt : std::optional(severity::note));
    if (made == nullptr) return;
    if (!is_finding) made->advice = advice_of_notes;
    const auto explained = model::explanation_text(time);
    made->message =
        fmt::format("The wait was to end after {} and took {}{}{}.", time_text(time.allowed_ns),
                    time_text(time.duration_ns), explained.empty() ? "" : ", of which ", explained);
    if (verdict == model::stall_verdict::stall && !time.has_note)
      made->steps.push_back("What its thread did meanwhile was not recorded.");
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
  model::stall_judge blocks_judge_, overruns_judge_;
  std::vector<slow_call> blocks_, overruns_;
  std::map<function, size_t> described_;  // how many slow calls
};

}  // namespace

std::unique_ptr<rule_set> blocking_rules(inspection& of) {
  return std::make_unique<blocking_rule_set>(of);
}

}  // namespace zevent::check
