#pragma once

#include "../driver/with_images.hpp"
#include "kernel_fixture.hpp"
#include "kernels/images_spv.h"

namespace zevent::driver::test {

class image_fixture : public with_images<kernel_fixture> {
 protected:
  // One place for each pixel of a row after the other.
  std::array<int32_t, 4>* every_place(uint32_t width, uint32_t height) {
    auto* places = shared_memory<std::array<int32_t, 4>>(size_t{width} * height);
    for (uint32_t i = 0; i < width * height; ++i) {
      places[i] = {static_cast<int32_t>(i % width), static_cast<int32_t>(i / width), 0, 0};
    }
    return places;
  }
};

}  // namespace zevent::driver::test
