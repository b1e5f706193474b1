#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "launch/installation.hpp"
#include "model/symptom_search.hpp"
#include "repro/c_program.hpp"
#include "repro/verdict.hpp"

namespace zevent::repro {

// Where a recording has findings of that rule, at any call.
using rule_search = std::function<result<std::vector<model::found_symptom>>(
    const trace::trace_file&, const model::rule_finding&)>;

struct verification_options {
  std::string driver;  // to run on; "" for the software driver
  std::vector<std::pair<std::string, std::string>> environment;  // as the recorded process had it
  model::symptom symptom = model::no_symptom{};
  replay::poll_mode polls = replay::poll_mode::until_done;  // as the reproducer was written
  uint64_t repeat = 5;                                      // runs
  uint64_t timeout_ns = 120'000'000'000;                    // of each run
  // When the runs together took this long, no more are made than the verdict needs.
  uint64_t enough_ns = 120'000'000'000;
  rule_search find_rule;  // needed for a symptom that is a finding of a rule
  std::function<void(uint64_t done, uint64_t total)> progress;  // in runs
};

struct verification {
  verdict reached;
  std::vector<observed_run> runs;
  std::vector<std::string> output;      // what the first run printed, without lines about calls
  std::vector<std::string> deviations;  // from the recorded sequence of calls
};

// Builds a reproducer, runs it several times, records it, and compares its calls with the recorded
// ones. Fails where any of this is impossible; the message has what the compiler said.
result<verification> verify(const std::filesystem::path& folder, const trace::trace_file& trace,
                            std::span<const replay::call_selection> selections,
                            const launch::installation& files, const verification_options& options);

}  // namespace zevent::repro
