#include "repro/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "api/model.hpp"
#include "api/print.hpp"

namespace zevent::repro {
namespace {

constexpr std::string_view shows_words = ": shows the symptom";
constexpr size_t max_listed_runs = 10;
constexpr size_t max_listed_calls = 5;

// Takes what stands before the mark, and the mark, off the text.
std::optional<std::string_view> take_until(std::string_view& text, std::string_view mark) {
  const auto at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const auto before = text.substr(0, at);
  text.remove_prefix(at + mark.size());
  return before;
}

template <typename Number>
std::optional<Number> parse_number(std::string_view text, int base = 10) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

struct time_unit {
  std::string_view name;
  double us;
};
constexpr std::array<time_unit, 3> units = {{{"us", 1}, {"ms", 1e3}, {"s", 1e6}}};

// "84.7 ms" at the beginning of the text, in microseconds.
std::optional<double> parse_time_us(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data() + text.size() || *end != ' ') return std::nullopt;
  const std::string_view rest = text.substr(static_cast<size_t>(end - text.data()) + 1);
  for (const auto& each : units)
    if (rest.starts_with(each.name)) return value * each.us;
  return std::nullopt;
}

const time_unit& unit_for(double largest_us) {
  return largest_us < 1e3 ? units[0] : largest_us < 1e6 ? units[1] : units[2];
}

std::string number_in(const time_unit& unit, double us) {
  return unit.us == 1e6 ? fmt::format("{:.2f}", us / unit.us) : fmt::format("{:.1f}", us / unit.us);
}

std::string time_text(double us) {
  const auto& unit = unit_for(us);
  return fmt::format("{} {}", number_in(unit, us), unit.name);
}

// "84.7, 85.0, 84.9 ms"; of very many runs the least, the median and the greatest.
std::string times_text(std::vector<double> us) {
  const auto& unit = unit_for(*std::max_element(us.begin(), us.end()));
  if (us.size() > max_listed_runs) {
    std::sort(us.begin(), us.end());
    return fmt::format("min {}, median {}, max {} {}", number_in(unit, us.front()),
                       number_in(unit, us[us.size() / 2]), number_in(unit, us.back()), unit.name);
  }
  std::string out;
  for (const double each : us)
    out += fmt::format("{}{}", out.empty() ? "" : ", ", number_in(unit, each));
  return fmt::format("{} {}", out, unit.name);
}

bool is_about_calls(const model::symptom& wanted) {
  return std::holds_alternative<model::slow_call>(wanted) ||
         std::holds_alternative<model::call_with_result>(wanted) ||
         std::holds_alternative<model::rule_finding>(wanted);
}

// All that was seen of one call.
struct call_history {
  const observed_call* first = nullptr;
  std::vector<const observed_call*> runs;
  uint64_t shown = 0;
};

// Those that showed the symptom most often first, then by number.
std::vector<call_history> histories(std::span<const observed_run> runs) {
  std::map<uint64_t, call_history> by_number;
  for (const auto& run : runs) {
    for (const auto& call : run.calls) {
      auto& history = by_number[call.number];
      if (history.first == nullptr) history.first = &call;
      history.runs.push_back(&call);
      history.shown += call.shows ? 1 : 0;
    }
  }
  std::vector<call_history> out;
  for (auto& [number, each] : by_number) out.push_back(std::move(each));
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.shown > b.shown; });
  return out;
}

uint64_t count(std::span<const observed_run> runs, observed_run::end how) {
  return static_cast<uint64_t>(
      std::count_if(runs.begin(), runs.end(), [&](const auto& each) { return each.how == how; }));
}

// Runs in which the symptom was shown by the same call, of which there may be several to choose
// from.
uint64_t count_shown(const model::symptom& wanted, std::span<const observed_run> runs) {
  if (!is_about_calls(wanted)) return count(runs, observed_run::end::shown);
  uint64_t shown = 0;
  for (const auto& each : histories(runs))
    if (each.first->recorded) shown = std::max(shown, each.shown);
  return shown;
}

// A call of the recording shows the symptom.
bool is_recorded(std::span<const observed_run> runs) {
  return std::any_of(runs.begin(), runs.end(), [](const observed_run& run) {
    return std::any_of(run.calls.begin(), run.calls.end(),
                       [](const observed_call& call) { return call.recorded; });
  });
}

std::string runs_text(uint64_t runs) {
  return fmt::format("{} run{}", runs, runs == 1 ? "" : "s");
}

std::string outcomes_text(const call_history& history) {
  std::map<std::string, uint64_t> counts;
  for (const auto* each : history.runs) ++counts[each->outcome];
  std::string out;
  for (const auto& [outcome, times] : counts)
    out += fmt::format("{}{} ({})", out.empty() ? "" : ", ", outcome, times);
  return out;
}

// What is worth a word: enough to be seen in the figures.
bool is_noticeable(const observed_call& call) {
  return call.waiting_us > 1 && call.waiting_us > call.us / 100;
}

}  // namespace

std::optional<observed_call> parse_call_line(std::string_view line) {
  observed_call out;
  const auto function = take_until(line, " (call ");
  const auto number = function ? take_until(line, "): recorded ") : std::nullopt;
  const auto parsed = number ? parse_number<uint64_t>(*number) : std::nullopt;
  if (!parsed) return std::nullopt;
  out.function = *function;
  out.number = *parsed;
  out.shows = line.ends_with(shows_words);
  const auto recorded = take_until(line, ", now ");
  const auto recorded_us = recorded ? parse_time_us(*recorded) : std::nullopt;
  const auto us = parse_time_us(line);
  if (!recorded_us || !us) return std::nullopt;
  out.recorded_us = *recorded_us;
  out.us = *us;
  if (auto rest = line; take_until(rest, ", "))
    if (rest.find(" of it without a processor") != rest.npos)
      out.waiting_us = parse_time_us(rest).value_or(0);
  if (auto rest = line; take_until(rest, ", result 0x"))
    if (const auto bits = parse_number<uint32_t>(rest.substr(0, rest.find(':')), 16))
      out.outcome = api::print_result(api::builtin_model(), *bits);
  return out;
}

observed_run observe(int status, std::span<const std::string> output) {
  using end = observed_run::end;
  observed_run out;
  out.how = status == 0 ? end::not_shown : status == 1 ? end::shown : end::could_not_run;
  for (const auto& line : output)
    if (auto call = parse_call_line(line)) out.calls.push_back(std::move(*call));
  return out;
}

verdict judge(const model::symptom& wanted, std::span<const observed_run> runs) {
  using kind = verdict::kind;
  verdict out;
  out.runs = runs.size();
  out.shown = count_shown(wanted, runs);
  out.failed = count(runs, observed_run::end::could_not_run);
  if (is_about_calls(wanted) && !is_recorded(runs))
    out.elsewhere = count(runs, observed_run::end::shown);
  if (2 * out.failed > out.runs || out.runs == 0) {
    out.what = kind::could_not_run;
  } else if (2 * out.shown > out.runs) {
    out.what = kind::same_symptom;
  } else {
    out.what = out.shown != 0 ? kind::minority : kind::not_shown;
  }
  return out;
}

bool is_decided(const model::symptom& wanted, std::span<const observed_run> runs,
                uint64_t planned) {
  if (runs.size() >= planned) return true;
  const uint64_t left = planned - runs.size();
  const uint64_t failed = count(runs, observed_run::end::could_not_run);
  if (2 * failed > planned) return true;
  const uint64_t shown = count_shown(wanted, runs);
  return 2 * shown > planned || (2 * (shown + left) <= planned && 2 * (failed + left) <= planned);
}

bool needs_figures(const model::symptom& wanted) {
  return std::holds_alternative<model::slow_call>(wanted);
}

std::vector<std::string> describe_calls(const model::symptom& wanted,
                                        std::span<const observed_run> runs) {
  std::vector<std::string> out;
  if (!is_about_calls(wanted)) return out;
  const auto calls = histories(runs);
  for (const auto& each : calls) {
    if (out.size() == max_listed_calls) {
      out.push_back(fmt::format("and {} more calls", calls.size() - max_listed_calls));
      break;
    }
    const auto* wanted_result = std::get_if<model::call_with_result>(&wanted);
    const auto* rule = std::get_if<model::rule_finding>(&wanted);
    const std::string recorded = wanted_result != nullptr ? wanted_result->result
                                 : rule != nullptr        ? fmt::format("EV-{}", rule->rule)
                                                          : time_text(each.first->recorded_us);
    std::vector<double> times, waits;
    for (const auto* run : each.runs) {
      times.push_back(run->us);
      waits.push_back(run->waiting_us);
    }
    out.push_back(fmt::format("call {} {}: recorded {}; {}: {}", each.first->number,
                              each.first->function, recorded, runs_text(each.runs.size()),
                              needs_figures(wanted) ? times_text(times) : outcomes_text(each)));
    if (needs_figures(wanted) && std::any_of(each.runs.begin(), each.runs.end(),
                                             [](const auto* run) { return is_noticeable(*run); }))
      out.back() +=
          fmt::format(", of which {} without a processor (not counted)", times_text(waits));
  }
  return out;
}

std::string to_text(const verdict& reached) {
  std::string out;
  switch (reached.what) {
    case verdict::kind::same_symptom:
      out = fmt::format("same symptom in {} of {}", reached.shown, runs_text(reached.runs));
      break;
    case verdict::kind::minority:
      out =
          fmt::format("the symptom was shown in {} of {}", reached.shown, runs_text(reached.runs));
      break;
    case verdict::kind::not_shown:
      out = fmt::format("the symptom was not shown in {}", runs_text(reached.runs));
      break;
    case verdict::kind::could_not_run:
      return fmt::format("{} of {} could not be run", reached.failed, runs_text(reached.runs));
  }
  if (reached.failed != 0) out += fmt::format(", {} could not be run", reached.failed);
  if (reached.elsewhere != 0)
    out = fmt::format("no call of the recording shows the symptom; {} of {} did", reached.elsewhere,
                      runs_text(reached.runs));
  return out;
}

}  // namespace zevent::repro
