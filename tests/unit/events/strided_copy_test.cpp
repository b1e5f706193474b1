#include "zevent/strided_copy.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace zevent {
namespace {

constexpr uint64_t gib = uint64_t{1} << 30;

copy_plan plan_of(std::initializer_list<copy_dimension> dimensions, uint64_t element_bytes = 1) {
  std::vector<uint64_t> extents;
  std::vector<int64_t> sources;
  std::vector<int64_t> destinations;
  for (const auto& dimension : dimensions) {
    extents.push_back(dimension.extent);
    sources.push_back(dimension.source_stride_bytes);
    destinations.push_back(dimension.destination_stride_bytes);
  }
  return plan_strided_copy({extents, sources, destinations, element_bytes});
}

ze_result_t refusal_of(std::initializer_list<copy_dimension> dimensions,
                       uint64_t element_bytes = 1) {
  try {
    plan_of(dimensions, element_bytes);
  } catch (const error& refusal) {
    return refusal.result();
  }
  return ZE_RESULT_SUCCESS;
}

TEST(strided_copy, no_dimension_is_one_element) {
  const copy_plan plan = plan_of({}, 16);
  ASSERT_EQ(plan.operation_count(), 1u);
  EXPECT_EQ(plan.operation(0), (copy_operation{.width_bytes = 16}));
}

TEST(strided_copy, an_extent_of_zero_is_nothing_whatever_the_strides) {
  EXPECT_TRUE(plan_of({{0, 4, 4}, {8, 0, 0}, {UINT64_MAX, INT64_MIN, INT64_MAX}}).empty());
}

TEST(strided_copy, a_contiguous_array_is_one_plain_copy) {
  const copy_plan plan = plan_of({{4, 480, 480}, {10, 48, 48}, {6, 8, 8}}, 8);
  ASSERT_EQ(plan.operation_count(), 1u);
  EXPECT_EQ(plan.operation(0), (copy_operation{.width_bytes = 1920}));
}

TEST(strided_copy, a_plain_copy_has_no_size_limit) {
  const copy_plan plan = plan_of({{1000 * gib, 8, 8}}, 8);
  ASSERT_EQ(plan.operation_count(), 1u);
  EXPECT_EQ(plan.operation(0).width_bytes, 8000 * gib);
}

TEST(strided_copy, a_tile_of_a_matrix_is_one_2d_region) {
  const copy_plan plan = plan_of({{10, 1024, 256}, {6, 8, 8}}, 8);
  ASSERT_EQ(plan.operation_count(), 1u);
  EXPECT_EQ(plan.operation(0), (copy_operation{.width_bytes = 48,
                                               .height = 10,
                                               .source_pitch_bytes = 1024,
                                               .destination_pitch_bytes = 256}));
}

TEST(strided_copy, a_tile_of_a_cube_is_one_3d_region) {
  const copy_plan plan = plan_of({{5, 8192, 2048}, {10, 512, 100}, {6, 8, 8}}, 8);
  ASSERT_EQ(plan.operation_count(), 1u);
  EXPECT_EQ(plan.operation(0), (copy_operation{.width_bytes = 48,
                                               .height = 10,
                                               .depth = 5,
                                               .source_pitch_bytes = 512,
                                               .source_slice_pitch_bytes = 8192,
                                               .destination_pitch_bytes = 100,
                                               .destination_slice_pitch_bytes = 2048}));
}

TEST(strided_copy, a_4d_tile_loops_around_3d_regions_over_the_shortest_dimension) {
  // Slices of 7 or of 3 could be looped over; the shorter loop means fewer operations.
  const copy_plan plan =
      plan_of({{3, 100000, 100000}, {7, 9000, 9000}, {10, 100, 100}, {50, 1, 1}});
  ASSERT_EQ(plan.operation_count(), 3u);
  EXPECT_EQ(plan.operation(0).height, 10u);
  EXPECT_EQ(plan.operation(0).depth, 7u);
  EXPECT_EQ(plan.operation(2).source_offset_bytes, 200000);
}

TEST(strided_copy, a_column_is_one_region_of_narrow_rows) {
  const copy_plan plan = plan_of({{1000, 4096, 4}}, 4);
  ASSERT_EQ(plan.operation_count(), 1u);
  EXPECT_EQ(plan.operation(0).width_bytes, 4u);
  EXPECT_EQ(plan.operation(0).height, 1000u);
}

TEST(strided_copy, a_transposition_takes_rows_along_its_longer_side) {
  const copy_plan plan = plan_of({{5, 4, 400}, {100, 20, 4}}, 4);
  EXPECT_EQ(plan.operation_count(), 5u);
  EXPECT_EQ(plan.operation(0).height, 100u);
}

TEST(strided_copy, dimensions_that_walk_backwards_on_both_sides_walk_forwards_instead) {
  const copy_plan plan = plan_of({{10, -1024, -256}, {6, -8, -8}}, 8);
  ASSERT_EQ(plan.operation_count(), 1u);
  EXPECT_EQ(plan.operation(0).source_offset_bytes, -9 * 1024 - 40);
  EXPECT_EQ(plan.operation(0).destination_offset_bytes, -9 * 256 - 40);
  EXPECT_EQ(plan.operation(0).height, 10u);
}

TEST(strided_copy, a_mirrored_dimension_is_looped_over) {
  const copy_plan plan = plan_of({{10, -64, 64}, {64, 1, 1}});
  ASSERT_EQ(plan.operation_count(), 10u);
  EXPECT_EQ(plan.operation(3).source_offset_bytes, -3 * 64);
  EXPECT_EQ(plan.operation(3).destination_offset_bytes, 3 * 64);
}

TEST(strided_copy, a_broadcast_source_is_read_once_for_each_row) {
  const copy_plan plan = plan_of({{10, 0, 64}, {64, 1, 1}});
  EXPECT_EQ(plan.operation_count(), 10u);
  EXPECT_EQ(plan.operation(9).source_offset_bytes, 0);
}

TEST(strided_copy, rows_that_reach_beyond_32_bits_are_split) {
  // Rows 1 GiB apart: four of them span less than 4 GiB on either side.
  const copy_plan plan = plan_of({{10, static_cast<int64_t>(gib), 4096}, {4000, 1, 1}});
  ASSERT_EQ(plan.operation_count(), 3u);
  EXPECT_EQ(plan.operation(0).height, 4u);
  EXPECT_EQ(plan.operation(1).height, 4u);
  EXPECT_EQ(plan.operation(1).source_offset_bytes, static_cast<int64_t>(4 * gib));
  EXPECT_EQ(plan.operation(1).destination_offset_bytes, 4 * 4096);
  EXPECT_EQ(plan.operation(2).height, 2u);
}

TEST(strided_copy, slices_that_reach_beyond_32_bits_are_split) {
  const copy_plan plan = plan_of(
      {{5, static_cast<int64_t>(2 * gib), static_cast<int64_t>(2 * gib)}, {9, 64, 64}, {60, 1, 1}});
  ASSERT_EQ(plan.operation_count(), 3u);
  EXPECT_EQ(plan.operation(0).depth, 2u);
  EXPECT_EQ(plan.operation(2).depth, 1u);
  EXPECT_EQ(plan.operation(2).height, 9u);
  EXPECT_EQ(plan.operation(2).source_offset_bytes, static_cast<int64_t>(8 * gib));
}

TEST(strided_copy, a_pitch_beyond_32_bits_is_looped_over) {
  const copy_plan plan =
      plan_of({{3, static_cast<int64_t>(5 * gib), static_cast<int64_t>(6 * gib)}, {4 * gib, 1, 1}});
  ASSERT_EQ(plan.operation_count(), 3u);
  EXPECT_TRUE(plan.operation(2).plain());
  EXPECT_EQ(plan.operation(2).width_bytes, 4 * gib);
  EXPECT_EQ(plan.operation(2).destination_offset_bytes, static_cast<int64_t>(12 * gib));
}

TEST(strided_copy, more_dimensions_than_fit_inline_are_planned_too) {
  std::vector<uint64_t> extents(12, 2);
  std::vector<int64_t> strides;
  for (int64_t stride = 2; strides.size() < 12; stride *= 4) strides.push_back(stride);
  const copy_plan plan = plan_strided_copy({extents, strides, strides, 1});
  EXPECT_EQ(plan.operation_count(), 1024u);  // 4096 bytes, four to a region
  EXPECT_EQ(plan.total_bytes(), 4096u);
}

TEST(strided_copy, refuses_a_destination_that_overlaps_itself) {
  EXPECT_EQ(refusal_of({{4, 4, 0}}, 4), ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
  EXPECT_EQ(refusal_of({{4, 4, 3}}, 4), ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
  EXPECT_EQ(refusal_of({{4, 4, -3}}, 4), ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
  EXPECT_EQ(refusal_of({{4, 40, 7}, {8, 1, 1}}), ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
  EXPECT_EQ(refusal_of({{4, 1, 3}, {4, 4, 2}}), ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
}

TEST(strided_copy, accepts_a_destination_that_merely_interleaves) {
  EXPECT_EQ(refusal_of({{2, 1, 3}, {2, 2, 2}}), ZE_RESULT_SUCCESS);  // bytes 0, 2, 3 and 5
}

TEST(strided_copy, gives_up_on_strides_too_entangled_to_judge) {
  EXPECT_EQ(refusal_of({{1000003, 1, 1000000007},
                        {1000033, 1, 1000000009},
                        {1000037, 1, 1000000021},
                        {1000039, 1, 1000000033}}),
            ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
}

TEST(strided_copy, refuses_what_does_not_fit_in_63_bits) {
  EXPECT_EQ(refusal_of({{3, 1, INT64_MAX}}), ZE_RESULT_ERROR_INVALID_SIZE);
  EXPECT_EQ(refusal_of({{3, INT64_MIN, 1}}), ZE_RESULT_ERROR_INVALID_SIZE);
  EXPECT_EQ(refusal_of({{2, INT64_MIN, 1}}), ZE_RESULT_ERROR_INVALID_SIZE);
  EXPECT_EQ(refusal_of({{UINT64_MAX, 1, 1}}), ZE_RESULT_ERROR_INVALID_SIZE);
  EXPECT_EQ(refusal_of({{2, INT64_MAX / 2, 1}, {2, -INT64_MAX / 2, 2}}, 8),
            ZE_RESULT_ERROR_INVALID_SIZE);
  EXPECT_EQ(refusal_of({}, UINT64_MAX), ZE_RESULT_ERROR_INVALID_SIZE);
}

TEST(strided_copy, refuses_descriptions_that_contradict_themselves) {
  const uint64_t extents[] = {2, 2};
  const int64_t one[] = {1};
  const int64_t two[] = {1, 2};
  EXPECT_THROW(plan_strided_copy({extents, one, two, 1}), error);
  EXPECT_THROW(plan_strided_copy({extents, two, one, 1}), error);
  EXPECT_EQ(refusal_of({{2, 1, 1}}, 0), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST(strided_copy, tells_copies_within_one_buffer_that_interleave_from_those_that_overlap) {
  // Column 0 to column 1 of a matrix: the ranges overlap, the bytes do not.
  const copy_plan columns = plan_of({{100, 32, 32}}, 8);
  EXPECT_FALSE(columns.overlaps_itself(8));
  EXPECT_TRUE(columns.overlaps_itself(4));
  EXPECT_TRUE(columns.overlaps_itself(0));
  EXPECT_TRUE(columns.overlaps_itself(32));
  EXPECT_FALSE(columns.overlaps_itself(3200));
  EXPECT_FALSE(columns.overlaps_itself(INT64_MIN));
}

}  // namespace
}  // namespace zevent
