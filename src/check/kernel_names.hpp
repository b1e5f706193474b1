#pragma once

#include <map>
#include <string>

#include "trace/trace_file.hpp"

namespace zevent::check {

// The kernels of a trace: "kernel_1" is "reverse_add". Those whose creation cannot be read are left
// out.
std::map<std::string, std::string> kernel_names(const trace::trace_file& trace);

}  // namespace zevent::check
