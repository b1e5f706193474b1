#include "launch/trials.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "launch/trial_note.hpp"

namespace zevent::launch {
namespace {

bool has_failed(const run_end& end) {
  return end.hung || end.signal != 0 || end.exit_status != 0;
}

// `right` is the output of a run that was, null where none was.
trial_end judge(const run_end& end, const std::string* right) {
  if (end.hung) return trial_end::hung;
  if (end.signal != 0) return trial_end::crashed;
  if (end.exit_status != 0) return trial_end::failed;
  return right == nullptr || end.output == *right ? trial_end::same : trial_end::output_differs;
}

// Counts the runs. Those before the first plain one that is right are judged when that is known.
class trial_judge {
 public:
  void count_untouched() { ++report_.untouched; }

  void take(std::optional<uint64_t> seed, run_end end) {
    if (!right_ && !seed && !has_failed(end)) {
      right_ = end.output;
      judge_waiting();
    }
    if (right_) return count(seed, end);
    if (has_failed(end)) end.output.clear();  // nothing is compared with it
    waiting_.push_back({seed, std::move(end)});
  }

  trial_report finish(int interrupted_by) {
    judge_waiting();
    report_.interrupted_by = interrupted_by;
    return report_;
  }

 private:
  struct run {
    std::optional<uint64_t> seed;  // none: a plain run
    run_end end;
  };

  void judge_waiting() {
    for (const run& each : waiting_) count(each.seed, each.end);
    waiting_.clear();
  }

  void count(std::optional<uint64_t> seed, const run_end& end) {
    const trial_end verdict = judge(end, right_ ? &*right_ : nullptr);
    (seed ? report_.chaos : report_.plain).add(verdict);
    if (!seed || verdict == trial_end::same) return;
    auto& first = verdict == trial_end::output_differs ? report_.first_other_output_seed
                                                       : report_.first_failing_seed;
    if (!first) first = seed;
  }

  std::optional<std::string> right_;
  std::vector<run> waiting_;
  trial_report report_;
};

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
  trial_judge judge;
  trial_note note;
  if (!note.usable()) return fail("cannot keep notes: {}", std::strerror(errno));
  const uint64_t total = 2 * request.seeds;
  for (uint64_t done = 0; done < total; ++done) {
    // One of each in turn, so that both have met the same moods of the machine.
    const bool under_chaos = done % 2 == 1;
    const uint64_t seed = done / 2 + 1;
    auto end = run_captured(
        request.run,
        under_chaos ? environment_changes{{"ZEVENT_CHAOS", std::to_string(seed)}, note.variable()}
                    : environment_changes{});
    if (!end) return tl::unexpected(end.error());
    if (end->interrupted_by != 0) return judge.finish(end->interrupted_by);
    if (done == 0 && end->hung) return hung_already(request.run, "chaos");
    if (under_chaos && !note.take("chaos")) judge.count_untouched();
    judge.take(under_chaos ? std::optional(seed) : std::nullopt, *std::move(end));
    progress(done + 1, total);
  }
  return judge.finish(0);
}

}  // namespace zevent::launch
