#include "launch/sweep.hpp"

#include <cerrno>
#include <cstring>

#include "launch/trial_note.hpp"

namespace zevent::launch {
namespace {

sweep_end judge(const run_end& end, const run_end& right) {
  if (end.hung) return sweep_end::hung;
  if (end.signal != 0) return sweep_end::crashed;
  if (end.exit_status != 0) return sweep_end::error;
  return end.output == right.output ? sweep_end::unnoticed : sweep_end::other_output;
}

}  // namespace

void sweep_counts::add(sweep_end end) {
  ++struck;
  switch (end) {
    case sweep_end::error:
      ++error;
      break;
    case sweep_end::unnoticed:
      ++unnoticed;
      break;
    case sweep_end::other_output:
      ++other_output;
      break;
    case sweep_end::crashed:
      ++crashed;
      break;
    case sweep_end::hung:
      ++hung;
      break;
  }
}

bool can_be_swept(fault which) {
  const auto& parameter = fault_descriptions()[static_cast<size_t>(which)].parameter;
  return parameter.name == "at" || parameter.name == "after";
}

result<sweep_report> run_sweep(const sweep_request& request,
                               const std::function<void(uint64_t)>& progress) {
  const auto& swept = fault_descriptions()[static_cast<size_t>(request.which)];
  if (!can_be_swept(request.which))
    return fail("fault {} does not count occasions; a sweep needs one that has 'at' or 'after'",
                swept.name);
  const auto right = run_as_example(request.run, "the fault");
  if (!right) return tl::unexpected(right.error());

  trial_note strikes;
  if (!strikes.usable()) return fail("cannot keep notes: {}", std::strerror(errno));
  const std::string others = request.other_faults.empty() ? "" : request.other_faults + ",";
  sweep_report report;
  report.interrupted_by = right->interrupted_by;
  for (uint64_t run = 0; run < request.runs && report.interrupted_by == 0; ++run) {
    const uint64_t number = swept.parameter.least + run;
    const auto end = run_captured(
        request.run, {{"ZEVENT_FAULTS", fmt::format("{}{}:{}", others, swept.name, number)},
                      strikes.variable()});
    if (!end) return tl::unexpected(end.error());
    report.interrupted_by = end->interrupted_by;
    if (report.interrupted_by != 0) break;
    progress(run + 1);
    // A program that died without a strike is as bad as one that died of it.
    const sweep_end verdict = judge(*end, *right);
    const bool bad = verdict == sweep_end::crashed || verdict == sweep_end::hung;
    if (!strikes.take(swept.name) && !bad) {
      report.reached_the_end = true;
      break;
    }
    report.counts.add(verdict);
    if (bad && !report.first_bad) report.first_bad = number;
  }
  return report;
}

}  // namespace zevent::launch
