#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "repro/c_program.hpp"

namespace zevent::repro {

// What the README says beyond the program itself.
struct project_facts {
  std::string trace;   // the name of its file
  std::string reason;  // why the symptom is one: "call 49 … may not block"
  model::symptom symptom;
  std::vector<std::string> crashes;  // in no call, which the program may not show
  std::vector<uint32_t> processes;
};

// Writes the program, its data, a Makefile, a CMakeLists.txt and a README.md into a folder, which
// is made. Files of an earlier reproducer are written over; a folder with other things in it is
// refused.
result<void> write_project(const std::filesystem::path& folder, const c_program& program,
                           const trace::trace_file& trace, const project_facts& facts);

}  // namespace zevent::repro
