#include "launch/trials.hpp"

#include <algorithm>
#include <vector>

namespace zevent::launch {
namespace {

trial_end judge(const run_end& end, const run_end& right) {
  if (end.hung) return trial_end::hung;
  if (end.signal != 0) return trial_end::crashed;
  if (end.exit_status != right.exit_status) return trial_end::failed;
  return end.output == right.output ? trial_end::same : trial_end::output_differs;
}

}  // namespace

void trial_counts::add(trial_end end) {
  ++runs;
  switch (end) {
    case trial_end::same:
      break;
    case trial_end::failed:
      ++failed;
      break;
    case trial_end::crashed:
      ++crashed;
      break;
    case trial_end::hung:
      ++hung;
      break;
    case trial_end::output_differs:
      ++output_differs;
      break;
  }
}

std::optional<uint64_t> trial_report::first_bad_seed() const {
  if (!output_counts() || !first_other_output_seed) return first_failing_seed;
  return std::min(*first_other_output_seed, first_failing_seed.value_or(UINT64_MAX));
}

result<trial_report> run_trials(const trial_request& request,
                                const std::function<void(uint64_t, uint64_t)>& progress) {
  std::vector<run_end> failures;
  const auto right = run_as_example(request.run, "chaos", &failures);
  if (!right) return tl::unexpected(right.error());

  trial_report report;
  report.interrupted_by = right->interrupted_by;
  if (report.interrupted_by != 0) return report;
  report.plain.add(trial_end::same);
  for (const run_end& each : failures) report.plain.add(judge(each, *right));
  const uint64_t plain_runs = std::max(request.seeds, report.plain.runs);
  const uint64_t total = request.seeds + plain_runs;
  const auto done = [&] { return report.plain.runs + report.chaos.runs; };
  progress(done(), total);
  while (done() < total) {
    // One of each in turn, so that both have met the same moods of the machine.
    const uint64_t seed = report.chaos.runs + 1;
    const bool under_chaos =
        seed <= request.seeds && (seed <= report.plain.runs || report.plain.runs == plain_runs);
    const auto end = run_captured(
        request.run, under_chaos ? environment_changes{{"ZEVENT_CHAOS", std::to_string(seed)}}
                                 : environment_changes{});
    if (!end) return tl::unexpected(end.error());
    report.interrupted_by = end->interrupted_by;
    if (report.interrupted_by != 0) break;
    const trial_end verdict = judge(*end, *right);
    (under_chaos ? report.chaos : report.plain).add(verdict);
    if (under_chaos && verdict != trial_end::same) {
      auto& first = verdict == trial_end::output_differs ? report.first_other_output_seed
                                                         : report.first_failing_seed;
      if (!first) first = seed;
    }
    progress(done(), total);
  }
  return report;
}

}  // namespace zevent::launch
