#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "trace/trace_file.hpp"

namespace zevent::report {

// The bytes that the trace keeps under this hash, for those that are text; nothing where they are
// missing or damaged.
std::optional<std::string> blob_text(const trace::trace_file& trace,
                                     std::span<const std::byte> hash);

}  // namespace zevent::report
