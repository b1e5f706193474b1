#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/symptom.hpp"

// Whether a reproducer shows the symptom of the recording: the same call, the same kind, in the
// majority of its runs.
namespace zevent::repro {

// A call of the recording that the symptom is about, and what its counterpart did in one run.
struct observed_call {
  uint64_t number = 0;  // in the recording
  std::string function;
  double recorded_us = 0, us = 0;
  double waiting_us = 0;  // of `us`: the thread was ready to run and had no processor
  std::string outcome;    // a result, or a rule that was broken; "" where the time counts
  bool shows = false;
  bool recorded = true;  // it showed the symptom in the recording too
};

struct observed_run {
  enum class end : uint8_t { shown, not_shown, could_not_run };
  end how = end::not_shown;
  std::vector<observed_call> calls;
};

// What a line of the reproducer's output says about a call; nothing where it is about none.
//   zeEventQueryStatus (call 52): recorded 90.1 ms, now 84.7 ms: shows the symptom
std::optional<observed_call> parse_call_line(std::string_view line);

// What the reproducer said by its exit status and its output.
observed_run observe(int status, std::span<const std::string> output);

struct verdict {
  enum class kind : uint8_t { same_symptom, minority, not_shown, could_not_run };
  kind what = kind::not_shown;
  uint64_t runs = 0;
  uint64_t shown = 0;   // runs in which the symptom was shown by the same call
  uint64_t failed = 0;  // runs that could not be run
  // Runs that showed it by other calls only: the recording has none that does.
  uint64_t elsewhere = 0;
};

verdict judge(const model::symptom& wanted, std::span<const observed_run> runs);

// Whether the runs that are left of `planned` cannot change the verdict any more.
bool is_decided(const model::symptom& wanted, std::span<const observed_run> runs, uint64_t planned);

// A crash, a hang, an error result or a broken rule comes again or does not; times need figures.
bool needs_figures(const model::symptom& wanted);

// "call 52 zeEventQueryStatus: recorded 90.1 ms; 5 runs: 84.7, 85.0, 84.9, 84.8, 84.7 ms"
std::vector<std::string> describe_calls(const model::symptom& wanted,
                                        std::span<const observed_run> runs);

// "same symptom in 5 of 5 runs", "the symptom was shown in 2 of 5 runs"
std::string to_text(const verdict& reached);

}  // namespace zevent::repro
