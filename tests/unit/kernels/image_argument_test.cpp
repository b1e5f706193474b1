// Images as arguments: what kernels can ask them, where they can write, and what is refused.

#include <algorithm>
#include <numeric>

#include "image_fixture.hpp"
#include "kernels/decorated_sampler_spv.h"
#include "kernels/multisampled_image_spv.h"

namespace zevent::driver::test {
namespace {

constexpr auto layout_8888 = ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8;
constexpr auto layout_32 = ZE_IMAGE_FORMAT_LAYOUT_32;
constexpr auto type_uint = ZE_IMAGE_FORMAT_TYPE_UINT;

class image_arguments : public image_fixture {
 protected:
  void SetUp() override {
    image_fixture::SetUp();
    module_ = module_of(images_spv);
  }

  std::vector<int> answers_of(const char* kernel_name, const ze_image_desc_t& desc, size_t count) {
    auto* out = shared_memory<int>(count);
    const auto kernel = kernel_of(module_, kernel_name);
    set_all(kernel, image_of(desc), out);
    run(kernel, 1, 1);
    return {out, out + count};
  }

  ze_module_handle_t module_ = nullptr;
};

TEST_F(image_arguments, answer_for_their_sizes_and_formats) {
  // Data types and orders are counted from the first that OpenCL has: SNORM_INT8 and R.
  EXPECT_EQ(answers_of("describe_1d",
                       image_desc(ZE_IMAGE_TYPE_1D, ZE_IMAGE_FORMAT_LAYOUT_16,
                                  ZE_IMAGE_FORMAT_TYPE_FLOAT, 77),
                       3),
            (std::vector{77, 0x10dd - 0x10d0, 0}));
  EXPECT_EQ(answers_of("describe_1d_array",
                       image_desc(ZE_IMAGE_TYPE_1DARRAY, layout_8888, type_uint, 20, 1, 1, 5), 2),
            (std::vector{20, 5}));
  EXPECT_EQ(
      answers_of("describe_2d", image_desc(ZE_IMAGE_TYPE_2D, layout_8888, type_uint, 30, 40), 6),
      (std::vector{30, 40, 30, 40, 0x10da - 0x10d0, 0x10b5 - 0x10b0}));
  EXPECT_EQ(answers_of("describe_2d_array",
                       image_desc(ZE_IMAGE_TYPE_2DARRAY, layout_8888, type_uint, 6, 7, 1, 8), 3),
            (std::vector{6, 7, 8}));
  EXPECT_EQ(
      answers_of("describe_3d", image_desc(ZE_IMAGE_TYPE_3D, layout_8888, type_uint, 9, 10, 11), 4),
      (std::vector{9, 10, 11, 11}));
  EXPECT_EQ(answers_of("describe_buffer",
                       image_desc(ZE_IMAGE_TYPE_BUFFER, layout_8888, type_uint, 400), 1),
            (std::vector{100}))
      << "the width of a buffer is in bytes";
}

TEST_F(image_arguments, can_be_written_in_every_dimension) {
  struct image_case {
    const char* kernel;
    ze_image_desc_t desc;
    std::array<int32_t, 3> size;
  };
  const image_case cases[] = {
      {"write_1d", image_desc(ZE_IMAGE_TYPE_1D, layout_32, type_uint, 60), {60, 1, 1}},
      {"write_1d_array",
       image_desc(ZE_IMAGE_TYPE_1DARRAY, layout_32, type_uint, 12, 1, 1, 5),
       {12, 5, 1}},
      {"write_unsigned", image_desc(ZE_IMAGE_TYPE_2D, layout_32, type_uint, 10, 6), {10, 6, 1}},
      {"write_2d_array",
       image_desc(ZE_IMAGE_TYPE_2DARRAY, layout_32, type_uint, 5, 4, 1, 3),
       {5, 4, 3}},
      {"write_3d", image_desc(ZE_IMAGE_TYPE_3D, layout_32, type_uint, 3, 4, 5), {3, 4, 5}},
  };
  for (const image_case& each : cases) {
    SCOPED_TRACE(each.kernel);
    const auto [width, height, depth] = each.size;
    auto* places = shared_memory<std::array<int32_t, 4>>(60);
    auto* pixels = shared_memory<std::array<uint32_t, 4>>(60);
    for (int32_t i = 0; i < 60; ++i) {
      places[i] = {i % width, i / width % height, i / width / height, 0};
      pixels[i] = {1000 + static_cast<uint32_t>(i), 0, 0, 0};
    }
    const auto image = image_of(each.desc);
    const auto kernel = kernel_of(module_, each.kernel);
    set_all(kernel, image, places, pixels);
    run(kernel, 6, 10);
    std::array<uint32_t, 60> written{}, expected{};
    fetch(image, written.data());
    std::iota(expected.begin(), expected.end(), 1000U);
    EXPECT_EQ(written, expected);
  }
}

TEST_F(image_arguments, lose_what_is_written_outside) {
  const auto image = image_of(image_desc(ZE_IMAGE_TYPE_2D, layout_32, type_uint, 2, 2));
  const std::array<uint32_t, 4> before = {1, 2, 3, 4};
  fill(image, before.data());
  auto* places = shared_memory<std::array<int32_t, 4>>(5);
  places[0] = {-1, 0, 0, 0};
  places[1] = {2, 0, 0, 0};
  places[2] = {0, -1, 0, 0};
  places[3] = {0, 2, 0, 0};
  places[4] = {1, 1, 0, 0};
  auto* pixels = shared_memory<std::array<uint32_t, 4>>(5);
  std::fill(pixels, pixels + 5, std::array<uint32_t, 4>{99, 0, 0, 0});
  const auto kernel = kernel_of(module_, "write_unsigned");
  set_all(kernel, image, places, pixels);
  run(kernel, 5, 1);
  std::array<uint32_t, 4> after{};
  fetch(image, after.data());
  EXPECT_EQ(after, (std::array<uint32_t, 4>{1, 2, 3, 99}));
}

TEST_F(image_arguments, can_be_read_and_written_by_the_same_kernel) {
  const auto image = image_of(image_desc(ZE_IMAGE_TYPE_2D, layout_32, type_uint, 64, 32));
  std::vector<uint32_t> pixels(64 * 32);
  std::iota(pixels.begin(), pixels.end(), 0U);
  fill(image, pixels.data());
  const auto kernel = kernel_of(module_, "increment_in_place");
  set(kernel, 0, image);
  ASSERT_EQ(zeKernelSetGroupSize(kernel, 8, 4, 1), ZE_RESULT_SUCCESS);
  run(kernel, ze_group_count_t{8, 8, 1});
  fetch(image, pixels.data());
  for (uint32_t i = 0; i < pixels.size(); ++i) ASSERT_EQ(pixels[i], i + 1);
}

TEST_F(image_arguments, work_around_barriers) {
  constexpr uint32_t edge = 4, groups = 8, width = edge * groups;
  const auto desc = image_desc(ZE_IMAGE_TYPE_2D, layout_32, type_uint, width, width);
  const auto in = image_of(desc), out = image_of(desc);
  std::vector<uint32_t> pixels(width * width);
  std::iota(pixels.begin(), pixels.end(), 0U);
  fill(in, pixels.data());
  const auto kernel = kernel_of(module_, "transpose_through_local");
  set_all(kernel, in, out);
  set_local(kernel, 2, edge * edge * 16);
  ASSERT_EQ(zeKernelSetGroupSize(kernel, edge, edge, 1), ZE_RESULT_SUCCESS);
  run(kernel, ze_group_count_t{groups, groups, 1});
  fetch(out, pixels.data());
  for (uint32_t i = 0; i < pixels.size(); ++i) {
    ASSERT_EQ(pixels[i], i % width * width + i / width) << i;
  }
}

TEST_F(image_arguments, work_around_operations_of_groups) {
  constexpr uint32_t edge = 4, groups = 2, width = edge * groups;
  const auto image = image_of(image_desc(ZE_IMAGE_TYPE_2D, layout_32, type_uint, width, width));
  std::vector<uint32_t> pixels(width * width);
  std::iota(pixels.begin(), pixels.end(), 0U);
  fill(image, pixels.data());
  ze_sampler_desc_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC;
  auto* out = shared_memory<std::array<uint32_t, 2>>(groups * groups);
  const auto kernel = kernel_of(module_, "add_pixels_of_group");
  set_all(kernel, image, sampler_of(desc), out);
  ASSERT_EQ(zeKernelSetGroupSize(kernel, edge, edge, 1), ZE_RESULT_SUCCESS);
  run(kernel, ze_group_count_t{groups, groups, 1});
  std::array<std::array<uint32_t, 2>, groups * groups> expected{};
  for (uint32_t i = 0; i < pixels.size(); ++i) {
    auto& [sum, most] = expected[i / width / edge * groups + i % width / edge];
    sum += i;
    most = std::max(most, i);
  }
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(out[i], expected[i]) << "group " << i;
}

TEST_F(image_arguments, are_read_and_written_by_sub_groups) {
  constexpr uint32_t width = 16, height = 4;
  const auto desc = image_desc(ZE_IMAGE_TYPE_2D, layout_32, type_uint, width, height);
  const auto in = image_of(desc), out = image_of(desc);
  std::vector<uint32_t> pixels(width * height);
  std::iota(pixels.begin(), pixels.end(), 0U);
  fill(in, pixels.data());
  const auto kernel = kernel_of(module_, "sums_of_sub_groups");
  set_all(kernel, in, out);
  ASSERT_EQ(zeKernelSetGroupSize(kernel, width, height, 1), ZE_RESULT_SUCCESS);
  run(kernel, ze_group_count_t{1, 1, 1});
  fetch(out, pixels.data());
  for (uint32_t i = 0; i < pixels.size(); ++i) ASSERT_EQ(pixels[i], i / 8 * 64 + 28) << i;
}

TEST_F(image_arguments, can_be_buffers_over_memory_of_the_program) {
  auto* memory = shared_memory<uint32_t>(50);
  std::iota(memory, memory + 50, 0U);
  ze_image_pitched_exp_desc_t over = {};
  over.stype = ZE_STRUCTURE_TYPE_PITCHED_IMAGE_EXP_DESC;
  over.ptr = memory;
  ze_image_desc_t desc = image_desc(ZE_IMAGE_TYPE_BUFFER, layout_32, type_uint, 200);
  const auto own = image_of(desc);
  desc.pNext = &over;
  const auto theirs = image_of(desc);
  const auto kernel = kernel_of(module_, "increment_buffer");
  set_all(kernel, theirs, own);
  run(kernel, 50, 1);
  set_all(kernel, own, theirs);
  run(kernel, 50, 1);
  for (uint32_t i = 0; i < 50; ++i) ASSERT_EQ(memory[i], i + 2);
  desc.width = 1 << 20;
  ze_image_handle_t too_large = nullptr;
  EXPECT_EQ(zeImageCreate(context_, device_, &desc, &too_large), ZE_RESULT_ERROR_INVALID_SIZE);
}

TEST_F(image_arguments, are_kept_while_a_launch_needs_them) {
  const auto desc = image_desc(ZE_IMAGE_TYPE_2D, layout_32, type_uint, 2, 1);
  ze_image_handle_t image = nullptr;
  ASSERT_EQ(zeImageCreate(context_, device_, &desc, &image), ZE_RESULT_SUCCESS);
  const std::array<uint32_t, 2> pixels = {7, 8};
  fill(image, pixels.data());
  auto* read = shared_memory<std::array<uint32_t, 4>>(2);
  const auto kernel = kernel_of(module_, "read_unsigned");
  set_all(kernel, image, every_place(2, 1), read);
  ASSERT_EQ(zeKernelSetGroupSize(kernel, 2, 1, 1), ZE_RESULT_SUCCESS);
  const auto gate = regular_event();
  auto waited = gate;
  const auto list = in_order_list();
  const ze_group_count_t one = {1, 1, 1};
  ASSERT_EQ(zeCommandListAppendLaunchKernel(list, kernel, &one, nullptr, 1, &waited),
            ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeKernelSetArgumentValue(kernel, 0, sizeof(void*), nullptr), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeImageDestroy(image), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(read[0][0], 7U);
  EXPECT_EQ(read[1][0], 8U);
}

TEST_F(image_arguments, that_are_not_set_are_images_without_a_pixel) {
  auto* read = shared_memory<std::array<uint32_t, 4>>(1);
  read[0] = {1, 1, 1, 1};
  const auto kernel = kernel_of(module_, "read_unsigned");
  set(kernel, 1, every_place(1, 1));
  set(kernel, 2, read);
  run(kernel, 1, 1);
  EXPECT_EQ(read[0], (std::array<uint32_t, 4>{}));
  const auto writer = kernel_of(module_, "write_unsigned");
  set(writer, 1, every_place(1, 1));
  set(writer, 2, read);
  run(writer, 1, 1);
}

TEST_F(image_arguments, are_handles_of_the_right_kind_and_size) {
  const auto kernel = kernel_of(module_, "sample_2d");
  const auto image = image_of(image_desc(ZE_IMAGE_TYPE_2D, layout_32, type_uint, 2, 2));
  ze_sampler_desc_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC;
  const auto sampler = sampler_of(desc);
  EXPECT_EQ(zeKernelSetArgumentValue(kernel, 0, sizeof(sampler), &sampler),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(zeKernelSetArgumentValue(kernel, 1, sizeof(image), &image),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(zeKernelSetArgumentValue(kernel, 0, 4, &image),
            ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
  EXPECT_EQ(zeKernelSetArgumentValue(kernel, 1, 4, &sampler),
            ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
  ze_kernel_properties_t properties = {};
  properties.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES;
  ASSERT_EQ(zeKernelGetProperties(kernel, &properties), ZE_RESULT_SUCCESS);
  EXPECT_EQ(properties.numKernelArgs, 4U);
}

TEST_F(image_arguments, may_be_said_to_be_like_pointers) {
  const auto kernel = kernel_of(module_of(decorated_sampler_spv), "sample_once");
  const auto image = image_of(
      image_desc(ZE_IMAGE_TYPE_2D, ZE_IMAGE_FORMAT_LAYOUT_32, ZE_IMAGE_FORMAT_TYPE_FLOAT, 2, 2));
  const std::array<float, 4> pixels = {1, 2, 3, 6};
  fill(image, pixels.data());
  ze_sampler_desc_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC;
  desc.filterMode = ZE_SAMPLER_FILTER_MODE_LINEAR;
  desc.isNormalized = 1;
  auto* read = shared_memory<std::array<float, 4>>(1);
  set_all(kernel, image, sampler_of(desc), read);
  run(kernel, 1, 1);
  EXPECT_EQ(read[0], (std::array<float, 4>{3, 0, 0, 1}));
}

TEST_F(image_arguments, of_several_samples_a_pixel_are_refused_with_the_module) {
  const build_outcome outcome = build(spirv_desc(multisampled_image_spv));
  EXPECT_EQ(outcome.result, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
  EXPECT_NE(outcome.log.find("several samples"), std::string::npos) << outcome.log;
}

}  // namespace
}  // namespace zevent::driver::test
