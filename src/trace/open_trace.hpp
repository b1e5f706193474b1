#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "trace/pack.hpp"
#include "trace/trace_file.hpp"

namespace zevent::trace {

struct opened_trace {
  trace_file trace;
  // What the reader of any output should know, a line each: damage, lost calls, processes whose
  // recording has no proper end.
  std::vector<std::string> warnings;
};

// Opens whatever a user may mean by a trace: a packed .zev file, the folder of a recording (while
// it is made, or left behind by a run that was killed), one part of it, or the name that the packed
// file will have.
result<opened_trace> open_trace(const std::filesystem::path& path,
                                const pack_options& options = {});

}  // namespace zevent::trace
