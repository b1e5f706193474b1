#include <algorithm>

#include "replay/chaos_search.hpp"

namespace zevent::replay {
namespace {

using trace::number_of;

class describer {
 public:
  describer(const chaos_report& report, const trace::trace_file& trace)
      : report_(report), trace_(trace) {}

  std::vector<std::string> run(const chaos_rules& rules) {
    summary();
    for (const auto& each : report_.memory) say("  {}", each);
    pairs(false, rules.race);
    pairs(true, rules.reset);
    if (differs() && !report_.is_explained)
      say("no order between two commands that the model knows of makes it always the same");
    if (!report_.waits.empty()) waits(rules.early);
    return std::move(lines_);
  }

 private:
  template <typename... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    lines_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  bool differs() const {
    return report_.under_chaos.memory_differs + report_.without_chaos.memory_differs +
               report_.under_chaos.timed_out + report_.without_chaos.timed_out +
               report_.under_chaos.hung + report_.without_chaos.hung !=
           0;
  }

  // "memory has other contents even without chaos, in 3 of 3 runs"; then under seeds.
  void count(uint64_t bad_runs::*kind, std::string_view what) {
    if (const uint64_t runs = report_.without_chaos.*kind; runs != 0)
      say("{} even without chaos, in {} of {} runs", what, runs, report_.plain_runs);
    if (const uint64_t seeds = report_.under_chaos.*kind; seeds != 0)
      say("{} under {} of {} seeds", what, seeds, report_.seeds);
  }

  void summary() {
    if (!report_.bad()) {
      say("memory and results are the same under {} seeds", report_.seeds);
      return;
    }
    count(&bad_runs::crashed, "the replay crashes");
    count(&bad_runs::hung, "the replay hangs");
    count(&bad_runs::results_differ, "calls have other results");
    if (!report_.first_result.empty()) say("  {}", report_.first_result);
    count(&bad_runs::timed_out, "a wait times out");
    if (!report_.first_wait.empty()) say("  {}", report_.first_wait);
    count(&bad_runs::memory_differs, "memory has other contents");
  }

  // "#12 zeCommandListAppendMemoryCopy"
  std::string call(model::call_number number) const {
    trace::call_reader reader(trace_, number);
    const auto* found = reader.next();
    return found == nullptr || found->number != number
               ? fmt::format("#{}", number_of(number))
               : fmt::format("#{} {}", number_of(number), trace_.function(*found).name);
  }

  void pairs(bool are_resets, const rule_words& rule) {
    const auto is_one = [&](const model::open_pair& each) { return each.is_reset == are_resets; };
    if (std::none_of(report_.pairs.begin(), report_.pairs.end(), is_one)) return;
    say("{} {}", rule.id, rule.title);
    for (const auto& each : report_.pairs) {
      if (!is_one(each)) continue;
      say("  #{} and #{} use the same {}, and nothing orders them: {}.", number_of(each.first),
          number_of(each.second), are_resets ? "event" : "memory", each.reason);
      say("    {} {}", call(each.first), each.first_does);
      say("    {} {}", call(each.second), each.second_does);
    }
    if (report_.is_explained)
      say("  With {} in order, the runs that were bad are as they should be.",
          report_.pairs.size() == 1 ? "these two" : "all pairs");
    say("  What to do: {}", rule.advice);
  }

  void waits(const rule_words& early) {
    constexpr size_t most = 4;
    say("{} {}", early.id, early.title);
    for (size_t i = 0; i < std::min(most, report_.waits.size()); ++i) {
      const auto& each = report_.waits[i];
      say("  #{} waits for {}, which #{} signals. #{} was still running: memory changed after the "
          "wait.",
          number_of(each.waited), each.event, number_of(each.signals), number_of(each.command));
      say("    {} {}", call(each.command), each.command_does);
    }
    if (report_.waits.size() > most) say("  and {} more", report_.waits.size() - most);
    say("  What to do: {}", early.advice);
  }

  const chaos_report& report_;
  const trace::trace_file& trace_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> describe(const chaos_report& report, const trace::trace_file& trace,
                                  const chaos_rules& rules) {
  return describer(report, trace).run(rules);
}

}  // namespace zevent::replay
