#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "check/finding.hpp"

// Findings as text for people, as JSON, and as SARIF 2.1.0.
namespace zevent::check {

// What reports are made from.
struct report_input {
  std::string trace;  // its name, as the user gave it
  uint64_t calls = 0;
  std::span<const finding> findings;
  std::vector<std::string> notes;
  // A call as `zevent show` prints it.
  std::function<std::string(call_number)> call_text;
  // The line of the call in the output of `zevent show`, from 1.
  std::function<uint64_t(call_number)> call_line;
};

struct text_options {
  bool coloured = false;
  unsigned width = 100;  // columns
};

std::string as_text(const report_input& input, const text_options& options);
std::string as_json(const report_input& input);
std::string as_sarif(const report_input& input, std::string_view version);

// "2 errors and 1 hazard in 120 calls".
std::string summary(const report_input& input);

}  // namespace zevent::check
