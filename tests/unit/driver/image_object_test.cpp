#include <algorithm>
#include <set>

#include "with_images.hpp"

namespace zevent::driver::test {
namespace {

constexpr auto layout_8888 = ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8;
constexpr auto type_uint = ZE_IMAGE_FORMAT_TYPE_UINT;
constexpr auto type_unorm = ZE_IMAGE_FORMAT_TYPE_UNORM;

class images : public with_images<driver_fixture> {
 protected:
  ze_result_t try_create(const ze_image_desc_t& desc) {
    ze_image_handle_t image = nullptr;
    const ze_result_t status = zeImageCreate(context_, device_, &desc, &image);
    if (image != nullptr) at_end([image] { EXPECT_EQ(zeImageDestroy(image), ZE_RESULT_SUCCESS); });
    return status;
  }

  ze_image_sampler_filter_flags_t filters_of(const ze_image_desc_t& desc, bool& is_supported) {
    ze_image_format_support_ext_properties_t support = {};
    support.stype = ZE_STRUCTURE_TYPE_IMAGE_FORMAT_SUPPORT_EXT_PROPERTIES;
    ze_image_properties_t properties = {};
    properties.stype = ZE_STRUCTURE_TYPE_IMAGE_PROPERTIES;
    properties.pNext = &support;
    EXPECT_EQ(zeImageGetProperties(device_, &desc, &properties), ZE_RESULT_SUCCESS);
    is_supported = support.supported != 0;
    return properties.samplerFilterFlags;
  }
};

TEST_F(images, can_be_as_large_as_the_device_says_and_no_larger) {
  ze_device_image_properties_t limits = {};
  limits.stype = ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES;
  ASSERT_EQ(zeDeviceGetImageProperties(device_, &limits), ZE_RESULT_SUCCESS);
  EXPECT_GT(limits.maxSamplers, 0U);
  EXPECT_GT(limits.maxReadImageArgs, 0U);
  EXPECT_GT(limits.maxWriteImageArgs, 0U);
  const auto expect = [&](ze_image_type_t type, std::array<uint32_t, 4> most) {
    const auto desc = [&](std::array<uint32_t, 4> size) {
      return image_desc(type, ZE_IMAGE_FORMAT_LAYOUT_8, type_uint, size[0], size[1], size[2],
                        size[3]);
    };
    for (size_t axis = 0; axis < 4; ++axis) {
      if (most[axis] == 0) continue;
      std::array<uint32_t, 4> size = {1, 1, 1, 1};
      size[axis] = most[axis];
      EXPECT_EQ(try_create(desc(size)), ZE_RESULT_SUCCESS) << type << " axis " << axis;
      ++size[axis];
      EXPECT_EQ(try_create(desc(size)), ZE_RESULT_ERROR_UNSUPPORTED_SIZE) << type << " " << axis;
      size[axis] = 0;
      EXPECT_EQ(try_create(desc(size)), ZE_RESULT_ERROR_INVALID_SIZE) << type << " axis " << axis;
    }
  };
  const uint32_t of_2d = limits.maxImageDims2D, of_3d = limits.maxImageDims3D;
  expect(ZE_IMAGE_TYPE_1D, {limits.maxImageDims1D, 0, 0, 0});
  expect(ZE_IMAGE_TYPE_1DARRAY, {limits.maxImageDims1D, 0, 0, limits.maxImageArraySlices});
  expect(ZE_IMAGE_TYPE_2D, {of_2d, of_2d, 0, 0});
  expect(ZE_IMAGE_TYPE_2DARRAY, {of_2d, of_2d, 0, limits.maxImageArraySlices});
  expect(ZE_IMAGE_TYPE_3D, {of_3d, of_3d, of_3d, 0});
  expect(ZE_IMAGE_TYPE_BUFFER, {static_cast<uint32_t>(limits.maxImageBufferSize), 0, 0, 0});
}

TEST_F(images, larger_than_the_memory_are_refused) {
  EXPECT_EQ(try_create(image_desc(ZE_IMAGE_TYPE_2DARRAY, ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32,
                                  type_uint, 16384, 16384, 1, 2048)),
            ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
}

TEST_F(images, of_formats_that_are_not_there_are_refused_and_known_beforehand) {
  struct {
    ze_image_format_layout_t layout;
    ze_image_format_type_t type;
    ze_image_sampler_filter_flags_t filters;  // 0: not there
  } const cases[] = {
      {layout_8888, type_unorm, 3},
      {layout_8888, type_uint, 1},
      {ZE_IMAGE_FORMAT_LAYOUT_11_11_10, ZE_IMAGE_FORMAT_TYPE_FLOAT, 3},
      {ZE_IMAGE_FORMAT_LAYOUT_11_11_10, type_uint, 0},
      {layout_8888, ZE_IMAGE_FORMAT_TYPE_FLOAT, 0},
      {ZE_IMAGE_FORMAT_LAYOUT_32, type_unorm, 0},
      {ZE_IMAGE_FORMAT_LAYOUT_5_6_5, type_uint, 0},
      {ZE_IMAGE_FORMAT_LAYOUT_NV12, type_unorm, 0},
      {static_cast<ze_image_format_layout_t>(1000), type_uint, 0},
      {layout_8888, static_cast<ze_image_format_type_t>(1000), 0},
  };
  for (const auto& each : cases) {
    const auto desc = image_desc(ZE_IMAGE_TYPE_2D, each.layout, each.type, 4, 4);
    bool is_supported = false;
    EXPECT_EQ(filters_of(desc, is_supported), each.filters) << each.layout << " " << each.type;
    EXPECT_EQ(is_supported, each.filters != 0);
    EXPECT_EQ(try_create(desc),
              is_supported ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT);
  }
}

TEST_F(images, that_need_what_the_driver_lacks_are_refused) {
  ze_image_desc_t desc = image_desc(ZE_IMAGE_TYPE_2D, layout_8888, type_unorm, 4, 4);
  desc.miplevels = 3;
  EXPECT_EQ(try_create(desc), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  desc.miplevels = 0;
  ze_srgb_ext_desc_t srgb = {ZE_STRUCTURE_TYPE_SRGB_EXT_DESC, nullptr, 1};
  desc.pNext = &srgb;
  EXPECT_EQ(try_create(desc), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
  srgb.sRGB = 0;
  EXPECT_EQ(try_create(desc), ZE_RESULT_SUCCESS);
  ze_image_bindless_exp_desc_t bindless = {ZE_STRUCTURE_TYPE_BINDLESS_IMAGE_EXP_DESC, nullptr,
                                           ZE_IMAGE_BINDLESS_EXP_FLAG_BINDLESS};
  desc.pNext = &bindless;
  EXPECT_EQ(try_create(desc), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
  int not_known = 0;
  ze_image_pitched_exp_desc_t over = {ZE_STRUCTURE_TYPE_PITCHED_IMAGE_EXP_DESC, nullptr,
                                      &not_known};
  desc.pNext = &over;
  EXPECT_EQ(try_create(desc), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(images, tell_how_they_lie_in_memory_and_have_numbers_of_their_own) {
  const auto image = image_of(
      image_desc(ZE_IMAGE_TYPE_2DARRAY, ZE_IMAGE_FORMAT_LAYOUT_16_16, type_unorm, 10, 6, 1, 3));
  ze_image_memory_properties_exp_t memory = {};
  memory.stype = ZE_STRUCTURE_TYPE_IMAGE_MEMORY_EXP_PROPERTIES;
  ASSERT_EQ(zeImageGetMemoryPropertiesExp(image, &memory), ZE_RESULT_SUCCESS);
  EXPECT_EQ(memory.rowPitch, 40U);
  EXPECT_EQ(memory.slicePitch, 240U);
  EXPECT_EQ(memory.size, 720U);
  std::set<uint64_t> ids;
  for (int i = 0; i < 3; ++i) {
    const auto other = image_of(image_desc(ZE_IMAGE_TYPE_1D, layout_8888, type_uint, 4));
    ze_image_allocation_ext_properties_t properties = {};
    properties.stype = ZE_STRUCTURE_TYPE_IMAGE_ALLOCATION_EXT_PROPERTIES;
    ASSERT_EQ(zeImageGetAllocPropertiesExt(context_, other, &properties), ZE_RESULT_SUCCESS);
    EXPECT_TRUE(ids.insert(properties.id).second);
  }
  EXPECT_EQ(zeContextMakeImageResident(context_, device_, image), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeContextEvictImage(context_, device_, image), ZE_RESULT_SUCCESS);
}

TEST_F(images, have_views_that_share_their_pixels_and_outlive_them) {
  const auto desc = image_desc(ZE_IMAGE_TYPE_2D, layout_8888, type_uint, 4, 2);
  ze_image_handle_t image = nullptr;
  ASSERT_EQ(zeImageCreate(context_, device_, &desc, &image), ZE_RESULT_SUCCESS);
  const auto bytes = random_bytes(32);
  fill(image, bytes.data());
  const auto view_of = [&](ze_image_desc_t view_desc, ze_result_t expected) {
    ze_image_handle_t view = nullptr;
    EXPECT_EQ(zeImageViewCreateExt(context_, device_, &view_desc, image, &view), expected);
    return view;
  };
  const auto view = view_of(
      image_desc(ZE_IMAGE_TYPE_2D, ZE_IMAGE_FORMAT_LAYOUT_32, ZE_IMAGE_FORMAT_TYPE_FLOAT, 3, 2),
      ZE_RESULT_SUCCESS);
  view_of(image_desc(ZE_IMAGE_TYPE_2D, ZE_IMAGE_FORMAT_LAYOUT_8, type_uint, 4, 2),
          ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT);
  view_of(image_desc(ZE_IMAGE_TYPE_2D, layout_8888, type_uint, 4, 3), ZE_RESULT_ERROR_INVALID_SIZE);
  ze_image_view_planar_ext_desc_t planar = {ZE_STRUCTURE_TYPE_IMAGE_VIEW_PLANAR_EXT_DESC, nullptr,
                                            1};
  auto other_plane = desc;
  other_plane.pNext = &planar;
  view_of(other_plane, ZE_RESULT_ERROR_INVALID_ARGUMENT);
  ASSERT_EQ(zeImageDestroy(image), ZE_RESULT_SUCCESS);
  std::vector<uint8_t> seen(24);
  fetch(view, seen.data());
  EXPECT_TRUE(std::equal(seen.begin(), seen.begin() + 12, bytes.begin()));
  EXPECT_TRUE(std::equal(seen.begin() + 12, seen.end(), bytes.begin() + 16));
  EXPECT_EQ(zeImageDestroy(view), ZE_RESULT_SUCCESS);
}

TEST_F(images, and_samplers_of_every_kind_are_made_and_destroyed) {
  for (uint32_t mode = 0; mode <= ZE_SAMPLER_ADDRESS_MODE_MIRROR; ++mode) {
    for (const auto filter : {ZE_SAMPLER_FILTER_MODE_NEAREST, ZE_SAMPLER_FILTER_MODE_LINEAR}) {
      ze_sampler_desc_t desc = {};
      desc.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC;
      desc.addressMode = static_cast<ze_sampler_address_mode_t>(mode);
      desc.filterMode = filter;
      sampler_of(desc);
    }
  }
  ze_sampler_desc_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC;
  desc.addressMode = static_cast<ze_sampler_address_mode_t>(5);
  ze_sampler_handle_t sampler = nullptr;
  EXPECT_EQ(zeSamplerCreate(context_, device_, &desc, &sampler),
            ZE_RESULT_ERROR_INVALID_ENUMERATION);
}

}  // namespace
}  // namespace zevent::driver::test
