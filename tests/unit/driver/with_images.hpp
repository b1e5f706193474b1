#pragma once

#include <array>
#include <random>
#include <vector>

#include "driver_fixture.hpp"

namespace zevent::driver::test {

// Images, samplers, and copies to and from them in short, for a test that is one of the base.
template <typename Base>
class with_images : public Base {
 protected:
  static ze_image_desc_t image_desc(ze_image_type_t type, ze_image_format_layout_t layout,
                                    ze_image_format_type_t format_type, uint64_t width,
                                    uint32_t height = 1, uint32_t depth = 1, uint32_t layers = 0) {
    ze_image_desc_t desc = {};
    desc.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC;
    desc.flags = ZE_IMAGE_FLAG_KERNEL_WRITE;
    desc.type = type;
    desc.format = {layout,
                   format_type,
                   ZE_IMAGE_FORMAT_SWIZZLE_R,
                   ZE_IMAGE_FORMAT_SWIZZLE_G,
                   ZE_IMAGE_FORMAT_SWIZZLE_B,
                   ZE_IMAGE_FORMAT_SWIZZLE_A};
    desc.width = width;
    desc.height = height;
    desc.depth = depth;
    desc.arraylevels = layers;
    return desc;
  }

  ze_image_handle_t image_of(const ze_image_desc_t& desc) {
    ze_image_handle_t image = nullptr;
    EXPECT_EQ(zeImageCreate(this->context_, this->device_, &desc, &image), ZE_RESULT_SUCCESS);
    this->at_end([image] { EXPECT_EQ(zeImageDestroy(image), ZE_RESULT_SUCCESS); });
    return image;
  }

  ze_sampler_handle_t sampler_of(const ze_sampler_desc_t& desc) {
    ze_sampler_handle_t sampler = nullptr;
    EXPECT_EQ(zeSamplerCreate(this->context_, this->device_, &desc, &sampler), ZE_RESULT_SUCCESS);
    this->at_end([sampler] { EXPECT_EQ(zeSamplerDestroy(sampler), ZE_RESULT_SUCCESS); });
    return sampler;
  }

  void fill(ze_image_handle_t image, const void* pixels) {
    const auto list = this->in_order_list();
    ASSERT_EQ(
        zeCommandListAppendImageCopyFromMemory(list, image, pixels, nullptr, nullptr, 0, nullptr),
        ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
  }

  void fetch(ze_image_handle_t image, void* pixels) {
    const auto list = this->in_order_list();
    ASSERT_EQ(
        zeCommandListAppendImageCopyToMemory(list, pixels, image, nullptr, nullptr, 0, nullptr),
        ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
  }

  std::vector<uint8_t> random_bytes(size_t count) {
    std::vector<uint8_t> bytes(count);
    for (uint8_t& each : bytes) each = static_cast<uint8_t>(random_());
    return bytes;
  }

  std::mt19937 random_{20};
};

}  // namespace zevent::driver::test
