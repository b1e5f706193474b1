#pragma once

#include "driver/spirv_binary.hpp"

namespace zevent::driver::spirv {

// Turns images into pointers to what the driver knows of them (image_descriptor.hpp) and samplers
// into 64-bit numbers, so that the kernel compiler sees neither. An access to a pixel becomes a
// call of the driver's function, whose address is in the descriptor; a question for a size or a
// format becomes a load from it.
//
// Fails for what is not there: images with several samples a pixel, pointers to pixels, and blocks
// of pixels read by sub-groups.
result<void> lower_images(binary& module);

}  // namespace zevent::driver::spirv
