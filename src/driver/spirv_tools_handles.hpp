#pragma once

#include <spirv-tools/libspirv.h>

namespace zevent::driver::spirv {

struct context_deleter {
  void operator()(spv_context_t* context) const { spvContextDestroy(context); }
};
struct diagnostic_deleter {
  void operator()(spv_diagnostic_t* diagnostic) const { spvDiagnosticDestroy(diagnostic); }
};

}  // namespace zevent::driver::spirv
