#include "check/rule_symptom.hpp"

#include <algorithm>

#include "check/trace_check.hpp"

namespace zevent::check {
namespace {

using trace::number_of;

// A symptom names its call: findings are not summed up.
constexpr size_t max_of_a_kind = 100'000;

std::string function_of(const trace::trace_file& trace, call_number number) {
  trace::call_reader reader(trace, number);
  const auto* call = reader.next();
  return call != nullptr && call->number == number ? std::string(trace.function(*call).name) : "";
}

model::found_symptom as_symptom(const trace::trace_file& trace, const finding& each) {
  const uint64_t call = number_of(each.call);
  return {model::rule_finding{model::call_pattern{call, ""}, static_cast<uint32_t>(each.rule)},
          call,
          fmt::format("call {} {}: {}", call, function_of(trace, each.call),
                      find_rule(each.rule)->title)};
}

}  // namespace

result<std::vector<model::found_symptom>> find_shown(
    const trace::trace_file& trace, const model::rule_finding& wanted,
    const std::function<void(uint64_t, uint64_t)>& progress) {
  const auto id = parse_rule_id(std::to_string(wanted.rule));
  if (!id)
    return fail("there is no rule EV-{}; 'zevent check --list-rules' lists them", wanted.rule);
  check_options options;
  options.max_of_a_kind = max_of_a_kind;
  std::vector<model::found_symptom> out;
  for (const auto& each : check_trace(trace, options, progress).findings) {
    if (each.rule != *id) continue;
    if (wanted.call &&
        !model::is_meant(*wanted.call, number_of(each.call), function_of(trace, each.call)))
      continue;
    out.push_back(as_symptom(trace, each));
  }
  return out;
}

std::optional<model::found_symptom> find_first_error(
    const trace::trace_file& trace, std::span<const uint32_t> processes, uint64_t last_call,
    const std::function<void(uint64_t, uint64_t)>& progress) {
  const auto findings = check_trace(trace, {}, progress).findings;
  const auto first = std::find_if(findings.begin(), findings.end(), [&](const finding& each) {
    return each.level == severity::error && number_of(each.call) <= last_call &&
           std::find(processes.begin(), processes.end(), each.process) != processes.end();
  });
  if (first == findings.end()) return std::nullopt;
  return as_symptom(trace, *first);
}

}  // namespace zevent::check
