#pragma once

#include <string>
#include <vector>

#include "repro/c_program.hpp"

namespace zevent::repro {

// What the calls and main() share: constants of the symptom, and what was seen of it.
struct symptom_code {
  std::string macros;     // for every file
  std::string variables;  // for one; static
};
symptom_code symptom_variables(const model::symptom& symptom,
                               const std::vector<symptom_call>& calls, const time_limits& limits);

// A process of the program: the functions of its threads besides the first, and those that the
// first one calls one after the other.
struct process_code {
  std::string what;  // "/usr/bin/app, pid 4711"
  std::vector<std::string> threads, steps;
};

// main() and what it needs: options, repetition, and the verdict.
std::string main_code(const std::vector<process_code>& processes,
                      const std::vector<std::string>& symbols, bool fetches_descriptors);

// What several processes share: a struct for every file, and its variable for one.
symptom_code shared_memory(size_t processes, const std::vector<std::string>& handles,
                           size_t finished_calls);

// Declarations of functions that no header has, or that are fetched by name, and of their types.
std::string extension_types(const api::model& model, const c_needs& needs);
std::string extension_pointers(const api::model& model, const c_needs& needs);

}  // namespace zevent::repro
