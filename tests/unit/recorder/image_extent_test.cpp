#include "recorder/image_extent.hpp"

#include <gtest/gtest.h>

namespace zevent::recorder {
namespace {

ze_image_desc_t image(ze_image_type_t type, ze_image_format_layout_t layout, uint64_t width,
                      uint32_t height, uint32_t depth, uint32_t layers) {
  ze_image_desc_t desc = {};
  desc.type = type;
  desc.format.layout = layout;
  desc.width = width;
  desc.height = height;
  desc.depth = depth;
  desc.arraylevels = layers;
  return desc;
}

constexpr auto layout_32 = ZE_IMAGE_FORMAT_LAYOUT_32;

TEST(image_extent, looks_only_at_the_axes_that_an_image_has) {
  const auto bytes = [](ze_image_type_t type) {
    return extent_of_image_copy(image(type, layout_32, 40, 5, 7, 3), nullptr, 0, 0);
  };
  EXPECT_EQ(bytes(ZE_IMAGE_TYPE_1D), 160U);
  EXPECT_EQ(bytes(ZE_IMAGE_TYPE_1DARRAY), 160U * 3);
  EXPECT_EQ(bytes(ZE_IMAGE_TYPE_2D), 160U * 5);
  EXPECT_EQ(bytes(ZE_IMAGE_TYPE_2DARRAY), 160U * 5 * 3);
  EXPECT_EQ(bytes(ZE_IMAGE_TYPE_3D), 160U * 5 * 7);
  EXPECT_EQ(bytes(ZE_IMAGE_TYPE_BUFFER), 40U) << "its width is in bytes";
}

TEST(image_extent, of_a_region_ends_with_its_last_row) {
  const ze_image_region_t region = {1, 1, 1, 3, 2, 2};
  const auto of_3d = image(ZE_IMAGE_TYPE_3D, layout_32, 9, 9, 9, 0);
  EXPECT_EQ(extent_of_image_copy(of_3d, &region, 0, 0), 48U);
  EXPECT_EQ(extent_of_image_copy(of_3d, &region, 20, 100), 132U);
  const auto of_2d = image(ZE_IMAGE_TYPE_2D, layout_32, 9, 9, 9, 0);
  EXPECT_EQ(extent_of_image_copy(of_2d, &region, 20, 0), 32U);
  const auto rows = image(ZE_IMAGE_TYPE_1DARRAY, layout_32, 9, 9, 9, 4);
  EXPECT_EQ(extent_of_image_copy(rows, &region, 0, 50), 62U);
  const ze_image_region_t nothing = {};
  EXPECT_EQ(extent_of_image_copy(of_3d, &nothing, 0, 0), 0U);
}

TEST(image_extent, is_not_known_for_planes) {
  const auto planes = image(ZE_IMAGE_TYPE_2D, ZE_IMAGE_FORMAT_LAYOUT_NV12, 9, 9, 1, 0);
  EXPECT_EQ(extent_of_image_copy(planes, nullptr, 0, 0), 0U);
  const auto of_3 = image(ZE_IMAGE_TYPE_1D, ZE_IMAGE_FORMAT_LAYOUT_8_8_8, 9, 9, 1, 0);
  EXPECT_EQ(extent_of_image_copy(of_3, nullptr, 0, 0), 27U);
}

}  // namespace
}  // namespace zevent::recorder
