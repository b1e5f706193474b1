#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/symptom.hpp"
#include "replay/polls.hpp"
#include "replay/survey.hpp"
#include "repro/c_call.hpp"
#include "repro/data_files.hpp"

namespace zevent::repro {

// With which repro.c begins.
inline constexpr std::string_view opening_words = "/* Makes";

struct program_options {
  // Of one process each. Several are written as processes that take turns.
  std::vector<replay::call_selection> selections{{}};
  model::symptom symptom;
  replay::poll_mode polls = replay::poll_mode::until_done;
  uint64_t most_statements = 250'000;  // a minute of GCC with -O1
  uint64_t lines_per_function = 400;
  uint64_t lines_per_file = 4'000;
  replay::progress_listener progress;  // of reading the trace
};

struct source_file {
  std::string name;
  std::string text;
};

// A call that showed the symptom in the recording, or that the symptom names by its number.
struct symptom_call {
  uint64_t number = 0;
  std::string function;
  uint64_t duration_ns = 0;
};

// What takes longer hangs.
struct time_limits {
  uint64_t run_s = 0;   // all calls together
  uint64_t hang_s = 0;  // a call that did not return in the recording
};

// A C program that makes the recorded calls.
struct c_program {
  std::vector<source_file> sources;
  data_files data;
  c_needs needs;
  replay::requirements of_driver;  // the most that any process needs
  std::vector<replay::deviation> deviations;
  std::vector<symptom_call> symptom_calls;  // the first of them, if there are very many
  uint64_t calls = 0, statements = 0;
  uint64_t threads = 0, processes = 0;  // threads are those of all processes
  time_limits limits;
};

result<c_program> write_program(const trace::trace_file& trace, const program_options& options);

}  // namespace zevent::repro
