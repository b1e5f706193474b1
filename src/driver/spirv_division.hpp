#pragma once

#include "driver/spirv_binary.hpp"

namespace zevent::driver::spirv {

// Makes integer divisions and remainders safe: where the divisor is zero, or the quotient of signed
// numbers does not fit, they divide by one instead. SPIR-V leaves the result undefined in these
// cases; a CPU would raise SIGFPE.
void guard_divisions(binary& module);

}  // namespace zevent::driver::spirv
