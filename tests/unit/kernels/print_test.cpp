#include <array>
#include <cstdio>
#include <string>

#include "image_fixture.hpp"
#include "kernels/printing_spv.h"

namespace zevent::driver::test {
namespace {

class printing : public image_fixture {
 protected:
  std::string printed_by(ze_kernel_handle_t kernel) {
    ::testing::internal::CaptureStdout();
    run(kernel, 1, 1);
    return ::testing::internal::GetCapturedStdout();
  }
};

TEST_F(printing, shows_vectors_of_every_size) {
  const auto kernel = kernel_of(module_of(printing_spv), "print_vectors");
  set_all(kernel, 42);
  EXPECT_EQ(printed_by(kernel),
            "42 text 1.50|1,-2 1,-2,3 1,-2,3,-4|1,-2 1,-2,3 1,-2,3,-4|1,-2,3 1,-2|"
            "1,2 1,2,3 4,4,4,4,4,4,4,4,4,4,4,4,4,4,4,4|1,2,3,4 1,2\n");
}

TEST_F(printing, comes_behind_what_the_program_has_printed) {
  const auto kernel = kernel_of(module_of(printing_spv), "print_vectors");
  set_all(kernel, 42);
  ::testing::internal::CaptureStdout();
  std::printf("before ");
  run(kernel, 1, 1);
  std::printf("after");
  const std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(text.substr(0, 10), "before 42 ");
  EXPECT_EQ(text.substr(text.size() - 6), "\nafter");
}

TEST_F(printing, goes_with_many_reads_of_images) {
  const auto kernel = kernel_of(module_of(printing_spv), "print_pixels");
  const ze_image_handle_t image = image_of(
      image_desc(ZE_IMAGE_TYPE_2D, ZE_IMAGE_FORMAT_LAYOUT_32, ZE_IMAGE_FORMAT_TYPE_FLOAT, 1, 1));
  const float pixel = 3;
  fill(image, &pixel);
  ze_sampler_desc_t clamps = {};
  clamps.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC;
  clamps.addressMode = ZE_SAMPLER_ADDRESS_MODE_CLAMP;
  auto* out = shared_memory<std::array<float, 4>>(1);
  set_all(kernel, image, sampler_of(clamps), out);
  // Each of two rounds reads ten pixels, six of them in a function that prints after two.
  EXPECT_EQ(printed_by(kernel), "<6><6><6><6>(60)\n");
  EXPECT_EQ((*out)[0], 60);
}

}  // namespace
}  // namespace zevent::driver::test
