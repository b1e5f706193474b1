#pragma once

#include "driver/spirv_binary.hpp"

namespace zevent::driver::spirv {

// What may alias what (SPV_INTEL_memory_access_aliasing) is advice to an optimiser, of which
// neither the validator nor the linker knows where it may stand: it goes.
void remove_aliasing_advice(binary& module);

}  // namespace zevent::driver::spirv
