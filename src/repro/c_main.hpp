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
                               const std::vector<symptom_call>& calls);

// main() and what it needs: options, repetition, and the verdict. `threads` are the functions of
// the threads besides the first, `steps` those of the first.
std::string main_code(const model::symptom& symptom, const std::vector<symptom_call>& calls,
                      const std::vector<std::string>& steps,
                      const std::vector<std::string>& threads,
                      const std::vector<std::string>& symbols);

// Declarations of functions that no header has, or that are fetched by name, and of their types.
std::string extension_types(const api::model& model, const c_needs& needs);
std::string extension_pointers(const api::model& model, const c_needs& needs);

}  // namespace zevent::repro
