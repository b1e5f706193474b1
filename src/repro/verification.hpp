#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "launch/installation.hpp"
#include "repro/c_program.hpp"

namespace zevent::repro {

struct verification_options {
  std::string include_directory;  // of the Level Zero headers; "" where the compiler finds them
  std::string driver;             // to run on; "" for the software driver
  std::vector<std::pair<std::string, std::string>> environment;  // as the recorded process had it
  uint64_t timeout_ns = 120'000'000'000;                         // of each run
};

struct verification {
  bool symptom_is_shown = false;
  int status = 0;                       // of the reproducer
  std::vector<std::string> output;      // what the reproducer printed
  std::vector<std::string> deviations;  // from the recorded sequence of calls
};

// Builds a reproducer, runs it, records it, and compares its calls with the recorded ones. Fails
// where any of this is impossible; the message has what the compiler said.
result<verification> verify(const std::filesystem::path& folder, const trace::trace_file& trace,
                            std::span<const replay::call_selection> selections,
                            const launch::installation& files, const verification_options& options);

}  // namespace zevent::repro
