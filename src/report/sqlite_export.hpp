#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "base/result.hpp"
#include "trace/call_filter.hpp"
#include "trace/trace_file.hpp"

namespace zevent::report {

struct export_report {
  uint64_t calls = 0;
  std::vector<trace::file_damage> damage;
};

// Writes a trace as an SQLite database whose tables docs/export.md describes. The filter chooses
// calls; everything else is written in full. The file appears when it is complete, or not at all;
// one that is there is replaced.
result<export_report> export_sqlite(const trace::trace_file& trace,
                                    const trace::call_filter& filter,
                                    const std::filesystem::path& file,
                                    const std::function<void(uint64_t, uint64_t)>& progress = {});

}  // namespace zevent::report
