#include "launch/trials.hpp"

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

result<trial_report> run_trials(const trial_request& request,
                                const std::function<void(uint64_t, uint64_t)>& progress) {
  const auto right = run_as_example(request.run, "chaos");
  if (!right) return tl::unexpected(right.error());

  trial_report report;
  report.plain.add(trial_end::same);
  const uint64_t total = request.seeds * 2;
  progress(1, total);
  for (uint64_t seed = 1; seed <= request.seeds; ++seed) {
    const auto chaotic = run_captured(request.run, {{"ZEVENT_CHAOS", std::to_string(seed)}});
    if (!chaotic) return tl::unexpected(chaotic.error());
    const trial_end end = judge(*chaotic, *right);
    report.chaos.add(end);
    if (end != trial_end::same && !report.first_bad_seed) report.first_bad_seed = seed;
    progress(seed * 2, total);
    if (seed == request.seeds) break;
    const auto plain = run_captured(request.run, {});
    if (!plain) return tl::unexpected(plain.error());
    report.plain.add(judge(*plain, *right));
    progress(seed * 2 + 1, total);
  }
  return report;
}

}  // namespace zevent::launch
