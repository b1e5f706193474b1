#include "zevent/strided_copy.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <optional>

#include "naive_strided_copy.hpp"
#include "random_shape.hpp"

namespace zevent {
namespace {

// The plan, or nothing where the planner refuses because of overlap.
std::optional<copy_plan> plan_unless_overlapping(const random_shape& shape) {
  try {
    return plan_strided_copy(shape.view(), shape.region_limit_bytes);
  } catch (const error& refusal) {
    RC_ASSERT(refusal.result() == ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
    return std::nullopt;
  }
}

void expect_legal(uint64_t limit, uint64_t width, uint64_t height, uint64_t depth, uint64_t pitch,
                  uint64_t slice_pitch) {
  if (height > 1) RC_ASSERT(pitch >= width);
  const uint64_t plane = (height - 1) * pitch + width;
  if (depth > 1) RC_ASSERT(slice_pitch >= plane);
  if (height > 1 || depth > 1) RC_ASSERT((depth - 1) * slice_pitch + plane <= limit);
}

RC_GTEST_PROP(strided_copy, copies_every_byte_once_or_refuses_what_overlaps, ()) {
  auto numbers = arbitrary_numbers();
  const random_shape shape = arbitrary_copy(numbers);
  RC_TAG(shape.extents.size());
  const auto expected = naive_strided_copy(shape.view());
  const auto plan = plan_unless_overlapping(shape);
  RC_ASSERT(plan.has_value() == !writes_a_byte_twice(expected));
  if (!plan) return;
  RC_ASSERT(bytes_of(*plan) == expected);
  RC_ASSERT(plan->total_bytes() == expected.size());
  for (const copy_operation& operation : *plan) {
    expect_legal(shape.region_limit_bytes, operation.width_bytes, operation.height, operation.depth,
                 operation.source_pitch_bytes, operation.source_slice_pitch_bytes);
    expect_legal(shape.region_limit_bytes, operation.width_bytes, operation.height, operation.depth,
                 operation.destination_pitch_bytes, operation.destination_slice_pitch_bytes);
  }
}

RC_GTEST_PROP(strided_copy, knows_which_bytes_it_touches, ()) {
  auto numbers = arbitrary_numbers();
  const random_shape shape = arbitrary_array_copy(numbers);
  const auto bytes = naive_strided_copy(shape.view());
  const auto plan = plan_unless_overlapping(shape);
  RC_PRE(plan.has_value() && !bytes.empty());
  byte_range source{INT64_MAX, INT64_MIN};
  for (const auto& byte : bytes) {
    source.begin = std::min(source.begin, byte.source);
    source.end = std::max(source.end, byte.source + 1);
  }
  RC_ASSERT(plan->source_range().begin == source.begin);
  RC_ASSERT(plan->source_range().end == source.end);
  RC_ASSERT(plan->destination_range().begin == bytes.front().destination);
  RC_ASSERT(plan->destination_range().end == bytes.back().destination + 1);
}

RC_GTEST_PROP(strided_copy, knows_when_it_would_read_what_it_writes, ()) {
  auto numbers = arbitrary_numbers();
  const auto distance = static_cast<int64_t>(numbers.below(201)) - 100;
  const random_shape shape = arbitrary_copy(numbers);
  const auto plan = plan_unless_overlapping(shape);
  RC_PRE(plan.has_value());
  std::vector<int64_t> read;
  std::vector<int64_t> written;
  for (const auto& byte : naive_strided_copy(shape.view())) {
    read.push_back(byte.source);
    written.push_back(byte.destination + distance);
  }
  std::sort(read.begin(), read.end());
  std::vector<int64_t> both;
  std::set_intersection(read.begin(), read.end(), written.begin(), written.end(),
                        std::back_inserter(both));
  RC_ASSERT(plan->overlaps_itself(distance) == !both.empty());
}

// Ways to say the same copy in other words; none of them may cost an operation.
RC_GTEST_PROP(strided_copy, costs_the_same_however_it_is_described, ()) {
  auto numbers = arbitrary_numbers();
  random_shape shape = arbitrary_array_copy(numbers);
  const auto plan = plan_unless_overlapping(shape);
  RC_PRE(plan.has_value());

  random_shape same;
  same.element_bytes = shape.element_bytes;
  for (const size_t i : arbitrary_order(numbers, shape.extents.size())) {
    const uint64_t extent = shape.extents[i];
    if (extent == 4 && numbers.one_in(2)) {  // 4 is also 2 times 2
      same.extents.insert(same.extents.end(), {2, 2});
      same.source_strides_bytes.insert(
          same.source_strides_bytes.end(),
          {2 * shape.source_strides_bytes[i], shape.source_strides_bytes[i]});
      same.destination_strides_bytes.insert(
          same.destination_strides_bytes.end(),
          {2 * shape.destination_strides_bytes[i], shape.destination_strides_bytes[i]});
    } else {
      same.extents.push_back(extent);
      same.source_strides_bytes.push_back(shape.source_strides_bytes[i]);
      same.destination_strides_bytes.push_back(shape.destination_strides_bytes[i]);
    }
    if (numbers.one_in(3)) {  // a dimension of 1 has no stride to speak of
      same.extents.push_back(1);
      same.source_strides_bytes.push_back(-7);
      same.destination_strides_bytes.push_back(0);
    }
  }
  const auto again = plan_unless_overlapping(same);
  RC_ASSERT(again.has_value());
  RC_ASSERT(again->operation_count() == plan->operation_count());
}

}  // namespace
}  // namespace zevent
