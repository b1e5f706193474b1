#include <algorithm>
#include <numeric>

#include "with_images.hpp"

namespace zevent::driver::test {
namespace {

constexpr auto layout_8888 = ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8;
constexpr auto type_uint = ZE_IMAGE_FORMAT_TYPE_UINT;

// An image of every type, what it is as a block of 32-bit numbers, and which axes it has.
struct image_case {
  ze_image_type_t type;
  std::array<uint32_t, 3> size;
  size_t axes;
};
constexpr image_case every_type[] = {
    {ZE_IMAGE_TYPE_1D, {24, 1, 1}, 1}, {ZE_IMAGE_TYPE_1DARRAY, {8, 3, 1}, 2},
    {ZE_IMAGE_TYPE_2D, {6, 4, 1}, 2},  {ZE_IMAGE_TYPE_2DARRAY, {4, 3, 2}, 3},
    {ZE_IMAGE_TYPE_3D, {2, 3, 4}, 3},  {ZE_IMAGE_TYPE_BUFFER, {24, 1, 1}, 1},
};
constexpr size_t pixel_count = 24;

class image_copies : public with_images<driver_fixture> {
 protected:
  ze_image_handle_t image_like(const image_case& each) {
    const auto [width, height, depth] = each.size;
    switch (each.type) {
      case ZE_IMAGE_TYPE_1DARRAY:
        return image_of(image_desc(each.type, layout_8888, type_uint, width, 1, 1, height));
      case ZE_IMAGE_TYPE_2DARRAY:
        return image_of(image_desc(each.type, layout_8888, type_uint, width, height, 1, depth));
      case ZE_IMAGE_TYPE_BUFFER:
        return image_of(image_desc(each.type, layout_8888, type_uint, width * 4));
      default:
        return image_of(image_desc(each.type, layout_8888, type_uint, width, height, depth));
    }
  }

  // A part of the image that is not all of it along any axis with room for that.
  static ze_image_region_t part_of(const image_case& each) {
    std::array<uint32_t, 3> origin{}, size = {1, 1, 1};
    for (size_t axis = 0; axis < each.axes; ++axis) {
      origin[axis] = each.size[axis] > 1 ? 1 : 0;
      size[axis] = std::max(each.size[axis] - origin[axis], 1U);
    }
    return {origin[0], origin[1], origin[2], size[0], size[1], size[2]};
  }

  // Calls for every pixel of a region: its number in the image and in the region.
  template <typename Function>
  static void for_each(const image_case& each, const ze_image_region_t& part, Function function) {
    size_t in_part = 0;
    for (uint32_t z = 0; z < part.depth; ++z) {
      for (uint32_t y = 0; y < part.height; ++y) {
        for (uint32_t x = 0; x < part.width; ++x) {
          const size_t in_image =
              ((part.originZ + z) * each.size[1] + part.originY + y) * each.size[0] + part.originX +
              x;
          function(in_image, in_part++);
        }
      }
    }
  }

  static std::array<uint32_t, pixel_count> numbers(uint32_t first) {
    std::array<uint32_t, pixel_count> made{};
    std::iota(made.begin(), made.end(), first);
    return made;
  }

  std::array<uint32_t, pixel_count> pixels_of(ze_image_handle_t image) {
    std::array<uint32_t, pixel_count> pixels{};
    fetch(image, pixels.data());
    return pixels;
  }
};

TEST_F(image_copies, of_whole_images_and_of_regions_reach_every_type) {
  for (const image_case& each : every_type) {
    SCOPED_TRACE(each.type);
    const auto image = image_like(each), other = image_like(each);
    auto expected = numbers(100);
    fill(image, expected.data());
    EXPECT_EQ(pixels_of(image), expected);
    const auto part = part_of(each);
    const auto list = in_order_list();
    ASSERT_EQ(zeCommandListAppendImageCopy(list, other, image, nullptr, 0, nullptr),
              ZE_RESULT_SUCCESS);
    // Into a region, out of it, and from one image's region to the other's.
    const auto patch = numbers(500);
    ASSERT_EQ(zeCommandListAppendImageCopyFromMemory(list, image, patch.data(), &part, nullptr, 0,
                                                     nullptr),
              ZE_RESULT_SUCCESS);
    std::array<uint32_t, pixel_count> taken{};
    ASSERT_EQ(
        zeCommandListAppendImageCopyToMemory(list, taken.data(), image, &part, nullptr, 0, nullptr),
        ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
    EXPECT_EQ(pixels_of(other), expected);
    for_each(each, part, [&](size_t in_image, size_t in_part) {
      EXPECT_EQ(taken[in_part], patch[in_part]);
      expected[in_image] = patch[in_part];
    });
    EXPECT_EQ(pixels_of(image), expected);
    ASSERT_EQ(
        zeCommandListAppendImageCopyRegion(list, other, image, &part, &part, nullptr, 0, nullptr),
        ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
    EXPECT_EQ(pixels_of(other), expected);
  }
}

TEST_F(image_copies, leave_gaps_between_rows_and_slices_of_memory) {
  constexpr uint32_t row_pitch = 40, slice_pitch = 200, memory_words = 4 * slice_pitch / 4;
  for (const image_case& each : every_type) {
    if (each.axes == 1) continue;
    SCOPED_TRACE(each.type);
    const bool is_1d_array = each.type == ZE_IMAGE_TYPE_1DARRAY;
    const uint32_t slices = each.axes == 3 || is_1d_array ? slice_pitch : 0;
    const auto image = image_like(each);
    std::vector<uint32_t> memory(memory_words), back(memory_words, 7);
    std::iota(memory.begin(), memory.end(), 0U);
    const auto list = in_order_list();
    ASSERT_EQ(zeCommandListAppendImageCopyFromMemoryExt(list, image, memory.data(), nullptr,
                                                        is_1d_array ? 0 : row_pitch, slices,
                                                        nullptr, 0, nullptr),
              ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeCommandListAppendImageCopyToMemoryExt(list, back.data(), image, nullptr,
                                                      is_1d_array ? 0 : row_pitch, slices, nullptr,
                                                      0, nullptr),
              ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
    const auto pixels = pixels_of(image);
    std::vector<uint32_t> expected(memory_words, 7);
    const ze_image_region_t whole = {0, 0, 0, each.size[0], each.size[1], each.size[2]};
    for_each(each, whole, [&](size_t in_image, size_t) {
      const size_t x = in_image % each.size[0], y = in_image / each.size[0] % each.size[1],
                   z = in_image / each.size[0] / each.size[1];
      const size_t rows_bytes = is_1d_array ? slice_pitch : row_pitch;
      const size_t word = x + (y * rows_bytes + z * slice_pitch) / 4;
      EXPECT_EQ(pixels[in_image], memory[word]);
      expected[word] = memory[word];
    });
    EXPECT_EQ(back, expected);
  }
}

TEST_F(image_copies, wait_for_events_and_signal_them_on_every_kind_of_list) {
  const auto image = image_like(every_type[2]);
  const auto pixels = numbers(1);
  std::array<uint32_t, pixel_count> back{};
  const auto run_on = [&](ze_command_list_handle_t list, ze_command_queue_handle_t queue) {
    back = {};
    const auto gate = regular_event(), filled = regular_event(), done = regular_event();
    auto first = gate, second = filled;
    ASSERT_EQ(zeCommandListAppendImageCopyFromMemory(list, image, pixels.data(), nullptr, filled, 1,
                                                     &first),
              ZE_RESULT_SUCCESS);
    ASSERT_EQ(
        zeCommandListAppendImageCopyToMemory(list, back.data(), image, nullptr, done, 1, &second),
        ZE_RESULT_SUCCESS);
    if (queue != nullptr) {
      ASSERT_EQ(zeCommandListClose(list), ZE_RESULT_SUCCESS);
      execute(queue, list);
    }
    EXPECT_EQ(zeEventQueryStatus(done), ZE_RESULT_NOT_READY);
    ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeEventHostSynchronize(done, forever), ZE_RESULT_SUCCESS);
    EXPECT_EQ(back, pixels);
    if (queue != nullptr) {
      ASSERT_EQ(zeCommandQueueSynchronize(queue, forever), ZE_RESULT_SUCCESS);
    }
  };
  run_on(in_order_list(), nullptr);
  run_on(immediate_list(), nullptr);
  run_on(immediate_list(0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, 1), nullptr);
  run_on(regular_list(), queue());
  run_on(regular_list(ZE_COMMAND_LIST_FLAG_IN_ORDER), queue());
}

TEST_F(image_copies, of_nothing_signal_too) {
  const auto image = image_like(every_type[2]), other = image_like(every_type[2]);
  const ze_image_region_t nothing = {0, 0, 0, 0, 0, 0};
  const auto list = in_order_list();
  uint32_t memory = 5;
  for (int which = 0; which < 3; ++which) {
    const auto done = regular_event();
    const ze_result_t status =
        which == 0 ? zeCommandListAppendImageCopyRegion(list, other, image, &nothing, &nothing,
                                                        done, 0, nullptr)
        : which == 1
            ? zeCommandListAppendImageCopyToMemory(list, &memory, image, &nothing, done, 0, nullptr)
            : zeCommandListAppendImageCopyFromMemory(list, image, &memory, &nothing, done, 0,
                                                     nullptr);
    ASSERT_EQ(status, ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeEventHostSynchronize(done, forever), ZE_RESULT_SUCCESS);
  }
  EXPECT_EQ(memory, 5U);
}

TEST_F(image_copies, outlive_the_handles_of_their_images) {
  const auto desc = image_desc(ZE_IMAGE_TYPE_2D, layout_8888, type_uint, 6, 4);
  ze_image_handle_t image = nullptr;
  ASSERT_EQ(zeImageCreate(context_, device_, &desc, &image), ZE_RESULT_SUCCESS);
  const auto pixels = numbers(9);
  std::array<uint32_t, pixel_count> back{};
  fill(image, pixels.data());
  const auto gate = regular_event();
  auto waited = gate;
  const auto list = in_order_list();
  ASSERT_EQ(
      zeCommandListAppendImageCopyToMemory(list, back.data(), image, nullptr, nullptr, 1, &waited),
      ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeImageDestroy(image), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(back, pixels);
}

TEST_F(image_copies, that_make_no_sense_are_refused) {
  const auto image = image_like(every_type[2]);
  const auto wider = image_of(image_desc(ZE_IMAGE_TYPE_2D, layout_8888, type_uint, 7, 4));
  const auto narrow_pixels =
      image_of(image_desc(ZE_IMAGE_TYPE_2D, ZE_IMAGE_FORMAT_LAYOUT_8, type_uint, 6, 4));
  const auto list = in_order_list();
  std::array<uint32_t, pixel_count> memory{};
  const auto region_copy = [&](ze_image_handle_t to, ze_image_region_t to_region,
                               ze_image_region_t from_region) {
    return zeCommandListAppendImageCopyRegion(list, to, image, &to_region, &from_region, nullptr, 0,
                                              nullptr);
  };
  EXPECT_EQ(zeCommandListAppendImageCopy(list, nullptr, image, nullptr, 0, nullptr),
            ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  EXPECT_EQ(zeCommandListAppendImageCopy(list, wider, image, nullptr, 0, nullptr),
            ZE_RESULT_ERROR_INVALID_SIZE);
  EXPECT_EQ(zeCommandListAppendImageCopy(list, narrow_pixels, image, nullptr, 0, nullptr),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(zeCommandListAppendImageCopy(list, image, image, nullptr, 0, nullptr),
            ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
  EXPECT_EQ(region_copy(image, {1, 1, 0, 3, 2, 1}, {3, 2, 0, 3, 2, 1}),
            ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
  EXPECT_EQ(region_copy(image, {0, 0, 0, 3, 2, 1}, {3, 0, 0, 3, 2, 1}), ZE_RESULT_SUCCESS);
  EXPECT_EQ(region_copy(wider, {0, 0, 0, 3, 2, 1}, {0, 0, 0, 2, 2, 1}),
            ZE_RESULT_ERROR_INVALID_SIZE);
  EXPECT_EQ(region_copy(wider, {5, 0, 0, 3, 2, 1}, {0, 0, 0, 3, 2, 1}),
            ZE_RESULT_ERROR_INVALID_ARGUMENT)
      << "outside of the image";
  EXPECT_EQ(region_copy(wider, {UINT32_MAX, 0, 0, 3, 2, 1}, {0, 0, 0, 3, 2, 1}),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(region_copy(wider, {4, 0, 9, 3, 2, 5}, {0, 0, 7, 3, 2, 9}), ZE_RESULT_SUCCESS)
      << "there is no third axis";
  EXPECT_EQ(
      zeCommandListAppendImageCopyToMemory(list, nullptr, image, nullptr, nullptr, 0, nullptr),
      ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  EXPECT_EQ(zeCommandListAppendImageCopyFromMemory(list, image, memory.data(), nullptr, nullptr, 1,
                                                   nullptr),
            ZE_RESULT_ERROR_INVALID_SIZE);
  ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
}

}  // namespace
}  // namespace zevent::driver::test
