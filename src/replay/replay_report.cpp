#include "replay/replay_report.hpp"

#include <cstring>
#include <map>

#include "api/print.hpp"

namespace zevent::replay {
namespace {

class reporter {
 public:
  reporter(const program& what, const run_outcome& outcome, const report_options& options)
      : program_(what), outcome_(outcome), options_(options), compared_(compare(what, outcome)) {}

  replay_verdict take() {
    say_how_it_ended();
    list_results();
    list_polls();
    list_memory();
    if (options_.symptom) judge_symptom();
    verdict_.same = compared_.same() && ended_as_recorded() && outcome_.memory_differences() == 0;
    return std::move(verdict_);
  }

 private:
  template <typename... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    verdict_.lines.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  // To be asked where all calls were made and are the same: one that hangs, or in which the replay
  // crashes, did not return in the recording either.
  bool ended_as_recorded() const {
    return outcome_.ending == run_ending::finished || outcome_.ending == run_ending::stopped ||
           !outcome_.under_way().empty();
  }
  void say_how_it_ended();
  void list_results();
  void list_polls();
  std::string_view why_nothing_was_compared() const;
  std::string_view why_not_compared(uint32_t slot) const;
  void list_memory();
  void list_uncompared_memory();
  void judge_symptom();
  model::call_facts facts_of(uint32_t index, const call_outcome& replayed, std::string& name) const;

  const program& program_;
  const run_outcome& outcome_;
  const report_options& options_;
  comparison compared_;
  replay_verdict verdict_;
};

void reporter::say_how_it_ended() {
  const uint64_t made = program_.calls.size() - compared_.not_made;
  say("{} of {} calls made on {} thread{}, {} with the recorded result", made,
      program_.calls.size(), program_.threads.size(), program_.threads.size() == 1 ? "" : "s",
      compared_.equal);
  if (outcome_.ending == run_ending::stopped)
    say("it was stopped, since another process did not end well");
  if (outcome_.ending == run_ending::crashed) {
    say("the replay crashed: {}",
        outcome_.signal != 0 ? strsignal(outcome_.signal) : outcome_.message.c_str());
    for (const uint32_t index : outcome_.under_way())
      say("  in call {} {}{}", program_.calls[index].number, function_name(program_.calls[index]),
          program_.calls[index].returned ? ""
          : program_.end.is_crash()      ? "; in the recording, " + how_it_ended(program_)
                                         : ", which did not return in the recording either");
  }
}

void reporter::list_results() {
  const auto& differences = compared_.results;
  if (differences.empty()) return;
  say("{}:", differences.size() == 1 ? "1 result differs"
                                     : fmt::format("{} results differ", differences.size()));
  for (size_t i = 0; i < std::min(differences.size(), options_.most_differences); ++i)
    say("  {}", describe(program_, differences[i]));
  if (differences.size() > options_.most_differences)
    say("  and {} more", differences.size() - options_.most_differences);
}

void reporter::list_polls() {
  if (compared_.asks_recorded != compared_.asks_replayed)
    say("polls asked {} times, {} in the recording", compared_.asks_replayed,
        compared_.asks_recorded);
  if (compared_.polls.empty()) return;
  const auto& first = compared_.polls.front();
  say("{} poll{} found the device earlier or later than in the recording; the first is {}",
      compared_.polls.size(), compared_.polls.size() == 1 ? "" : "s", describe(program_, first));
}

std::string_view reporter::why_nothing_was_compared() const {
  if (program_.has_results())
    return "no wait after which the recording has contents of allocations had the recorded result";
  if (program_.unfinished_results != 0)
    return "commands may have been writing wherever the recording has contents of allocations";
  if (program_.keeps_results)
    return program_.written_memory.empty()
               ? "no command writes to an allocation"
               : "whenever the program had waited, nothing had changed in allocations";
  return "the recording has no contents of allocations after waits; 'zevent record "
         "--memory=results' keeps them";
}

std::string_view reporter::why_not_compared(uint32_t slot) const {
  if (outcome_.unread_bytes(slot) != 0) return "the driver did not let it be read";
  if (program_.held_times.contains(slot)) return "times of the device, others in every run";
  if (program_.unfinished_slots.contains(slot))
    return "commands may have been writing there whenever the program had waited";
  return "the recording has no contents of it after a wait";
}

void reporter::list_uncompared_memory() {
  std::map<std::string_view, std::vector<uint32_t>> by_reason;
  for (const uint32_t slot : program_.written_memory)
    if (outcome_.compared_bytes(slot) == 0) by_reason[why_not_compared(slot)].push_back(slot);
  for (const auto& [why, slots] : by_reason) {
    std::string names;
    for (size_t i = 0; i < std::min(slots.size(), options_.most_differences); ++i)
      names += (i == 0 ? "" : ", ") + program_.slot_names[slots[i]];
    if (slots.size() > options_.most_differences)
      names += fmt::format(" and {} more", slots.size() - options_.most_differences);
    say("not compared: {} ({})", names, why);
  }
}

void reporter::list_memory() {
  if (!options_.compare_memory) return;
  const uint64_t bytes = outcome_.compared_bytes();
  size_t allocations = 0;
  for (uint32_t slot = 0; slot < program_.slot_count; ++slot)
    allocations += outcome_.compared_bytes(slot) != 0 ? 1u : 0u;
  const std::string where =
      fmt::format("{} allocation{}", allocations, allocations == 1 ? "" : "s");
  if (bytes == 0) {
    verdict_.compared_nothing = !program_.written_memory.empty();
    say("no memory was compared: {}", why_nothing_was_compared());
  } else if (outcome_.memory_differences() == 0) {
    say("{} bytes of memory in {} have the recorded contents", bytes, where);
  } else {
    say("{} pieces of memory differ, of {} bytes in {}:", outcome_.memory_differences(), bytes,
        where);
    const auto differences = outcome_.memory();
    for (size_t i = 0; i < std::min(differences.size(), options_.most_differences); ++i) {
      const auto& each = differences[i];
      say("  {} at call {}: {} bytes, the first at offset {}: {:#04x} in the recording, {:#04x} "
          "now",
          each.slot < program_.slot_names.size() ? program_.slot_names[each.slot] : "memory",
          each.call, each.bytes, each.offset, each.recorded, each.replayed);
    }
  }
  list_uncompared_memory();
}

model::call_facts reporter::facts_of(uint32_t index, const call_outcome& replayed,
                                     std::string& name) const {
  const bool returned = replayed.state == call_state::returned;
  name = returned ? api::print_result(api::builtin_model(), replayed.result) : "";
  return {program_.calls[index].number, function_name(program_.calls[index]), replayed.duration_ns,
          returned, name};
}

void reporter::judge_symptom() {
  constexpr int no_exit_code = -1;
  const auto& wanted = *options_.symptom;
  bool shown = model::shows_at_end(wanted, no_exit_code, outcome_.signal);
  if (std::holds_alternative<model::memory_differs>(wanted))
    shown = outcome_.memory_differences() != 0;
  if (std::holds_alternative<model::hang>(wanted)) shown = outcome_.ending == run_ending::hung;
  for (uint32_t i = 0; i < program_.calls.size(); ++i) {
    const auto replayed = outcome_.call(i);
    if (replayed.state != call_state::returned) continue;
    std::string name;
    if (!model::shows(wanted, facts_of(i, replayed, name))) continue;
    if (!shown || std::holds_alternative<model::slow_call>(wanted))
      say("call {} {}: {} in the recording, {} now: shows the symptom", program_.calls[i].number,
          function_name(program_.calls[i]), model::time_text(program_.calls[i].duration_ns),
          model::time_text(replayed.duration_ns));
    shown = true;
  }
  verdict_.symptom = shown;
}

void say_symptom(replay_verdict& verdict, const report_options& options) {
  if (verdict.symptom && verdict.compared_nothing &&
      std::holds_alternative<model::memory_differs>(*options.symptom))
    verdict.lines.push_back("whether memory differs is not known");
  else if (verdict.symptom)
    verdict.lines.push_back(fmt::format("the symptom {} {}", model::to_text(*options.symptom),
                                        *verdict.symptom ? "is there" : "is not there"));
}

}  // namespace

replay_verdict judge(const program& what, const run_outcome& outcome,
                     const report_options& options) {
  auto verdict = reporter(what, outcome, options).take();
  say_symptom(verdict, options);
  return verdict;
}

replay_verdict judge_together(std::span<const program> programs,
                              std::span<const run_outcome> outcomes,
                              std::span<const std::string> names, const report_options& options) {
  if (programs.size() == 1) return judge(programs.front(), outcomes.front(), options);
  replay_verdict all{.same = true, .symptom = {}, .lines = {}};
  bool compared_any = false;
  for (size_t i = 0; i < programs.size(); ++i) {
    const auto own = reporter(programs[i], outcomes[i], options).take();
    all.same = all.same && own.same;
    all.compared_nothing = all.compared_nothing || own.compared_nothing;
    compared_any = compared_any || outcomes[i].compared_bytes() != 0;
    if (own.symptom) all.symptom = all.symptom.value_or(false) || *own.symptom;
    all.lines.push_back(names[i]);
    for (const auto& each : own.lines) all.lines.push_back("  " + each);
  }
  all.compared_nothing = all.compared_nothing && !compared_any;
  say_symptom(all, options);
  return all;
}

int exit_status(const replay_verdict& verdict, const report_options& options) {
  constexpr int unknown = 125;
  if (!verdict.symptom) return !verdict.same ? 1 : verdict.compared_nothing ? unknown : 0;
  const bool is_of_memory = std::holds_alternative<model::memory_differs>(*options.symptom);
  if (is_of_memory && verdict.compared_nothing) return unknown;
  return *verdict.symptom ? 1 : 0;
}

}  // namespace zevent::replay
