#include <algorithm>

#include "replay/chaos_search.hpp"

namespace zevent::replay {
namespace {

using trace::number_of;

class describer {
 public:
  describer(const chaos_report& report, const trace::trace_file& trace)
      : report_(report), trace_(trace) {}

  std::vector<std::string> run(const rule_words& race, const rule_words& early) {
    summary();
    for (const auto& each : report_.memory) say("  {}", each);
    if (!report_.pairs.empty()) pairs(race);
    if (report_.memory_differs != 0 && !report_.is_explained)
      say("no order between two commands that the model knows of makes it always the same");
    if (!report_.waits.empty()) waits(early);
    return std::move(lines_);
  }

 private:
  template <typename... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    lines_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  void count(uint64_t seeds, std::string_view what) {
    if (seeds != 0) say("{} under {} of {} seeds", what, seeds, report_.seeds);
  }

  void summary() {
    if (!report_.bad()) {
      say("memory and results are the same under {} seeds", report_.seeds);
      return;
    }
    count(report_.crashed, "the replay crashes");
    count(report_.hung, "the replay hangs");
    count(report_.results_differ, "calls have other results");
    if (!report_.first_result.empty()) say("  {}", report_.first_result);
    count(report_.memory_differs, "memory has other contents");
  }

  // "#12 zeCommandListAppendMemoryCopy"
  std::string call(model::call_number number) const {
    trace::call_reader reader(trace_, number);
    const auto* found = reader.next();
    return found == nullptr || found->number != number
               ? fmt::format("#{}", number_of(number))
               : fmt::format("#{} {}", number_of(number), trace_.function(*found).name);
  }

  void pairs(const rule_words& race) {
    say("{} {}", race.id, race.title);
    for (const auto& each : report_.pairs) {
      say("  #{} and #{} use the same memory, and nothing orders them: {}.", number_of(each.first),
          number_of(each.second), each.reason);
      say("    {} {}", call(each.first), each.first_does);
      say("    {} {}", call(each.second), each.second_does);
    }
    say("  With {} in order, memory is the same under the seeds that were bad.",
        report_.pairs.size() == 1 ? "these two" : "these");
    say("  What to do: {}", race.advice);
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
                                  const rule_words& race, const rule_words& early) {
  return describer(report, trace).run(race, early);
}

}  // namespace zevent::replay
