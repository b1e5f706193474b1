#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/symptom.hpp"
#include "replay/comparison.hpp"

namespace zevent::replay {

// What a replay has to say for itself.
struct replay_verdict {
  bool same = false;  // results, and memory where it was compared
  // Memory was to be compared, and commands may have written to some, but nothing of it was.
  bool compared_nothing = false;
  std::optional<bool> symptom;     // whether it was shown, where one was asked for
  std::vector<std::string> lines;  // for people
};

struct report_options {
  std::optional<model::symptom> symptom;
  bool compare_memory = false;
  size_t most_differences = 20;  // of each kind; the rest are counted
};

replay_verdict judge(const program& what, const run_outcome& outcome,
                     const report_options& options);

// Of processes that were replayed together: what each has to say, under its name, and one verdict.
replay_verdict judge_together(std::span<const program> programs,
                              std::span<const run_outcome> outcomes,
                              std::span<const std::string> names, const report_options& options);

// Of the verb: 0 as recorded, or without the symptom; 1 not so; 125 not known, since memory was to
// be compared and none was.
int exit_status(const replay_verdict& verdict, const report_options& options);

}  // namespace zevent::replay
